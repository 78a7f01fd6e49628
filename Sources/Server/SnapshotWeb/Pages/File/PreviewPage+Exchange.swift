import SnapshotFormat

extension PreviewPage {
  /// The values that describe the HTTP exchange of a recording; `nil` if it is other data.
  func exchangeFields(_ recording: Manifest.Recording, _ budget: inout PageBudget) -> Fields? {
    guard let exchange = recording.exchange else { return nil }
    let end = "ended after \(Measures.number(exchange.duration)) ms"
    var heads = [Self.head("Request fields", exchange.request.fields, &budget)]
    if let response = exchange.response {
      heads.append(Self.head("Response fields", response.fields, &budget))
    }
    return [
      "request": budget.name("\(exchange.request.method) \(exchange.request.url)", most: 2000),
      "body": exchange.request.body.map { body in
        [
          "href": PagePath.preview(record.id, file: recording.requestBodyPath).description,
          "size": Measures.sizeFields(body.size),
        ] as Fields
      },
      "status": budget.name(exchange.status, most: 200),
      "redirect": exchange.redirect.map { budget.name("\($0.method) \($0.url)", most: 1000) },
      "started": Measures.timeFields(exchange.startedAt),
      "timing": exchange.responseAfter.map { "response after \(Measures.number($0)) ms, \(end)" } ?? end,
      "heads": heads.compactMap(\.self),
    ]
  }

  /// The fields of a message; `nil` if there are none.
  private static func head(
    _ title: String, _ fields: [Manifest.Exchange.Field], _ budget: inout PageBudget
  ) -> Fields? {
    guard !fields.isEmpty else { return nil }
    var rows: [Fields] = []
    for field in fields.prefix(PageLimits.rows) where budget.take(120) {
      rows.append(["name": budget.name(field.name), "value": budget.name(field.value, most: 1000)])
    }
    let left = fields.count - rows.count
    return [
      "title": "\(title) (\(Measures.number(fields.count)))", "rows": rows,
      "rest": left > 0 ? "and \(Measures.number(left)) more" : nil,
    ]
  }
}
