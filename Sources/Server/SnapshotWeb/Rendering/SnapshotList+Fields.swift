import SnapshotFormat

extension SnapshotList {
  /// What names may take of each row, so that a page of the most rows keeps its length.
  private static let rowNames = 300

  /// For the template `snapshots`.
  /// - Parameter path: the page that goes on at a cursor, or the first one.
  func fields(showsReport: Bool, path: (String?) -> String) -> Fields {
    let rows = records.prefix(Self.pageLength).map { record in
      var budget = PageBudget(Self.rowNames)
      return record.rowFields(showsReport: showsReport, &budget)
    }
    return [
      "outage": outage,
      "hasRows": !rows.isEmpty,
      "isEmpty": rows.isEmpty && outage == nil,
      "rows": rows,
      "showsReport": showsReport,
      "count": total.map { (totalIsExact ? "" : "more than ") + Measures.count($0, "snapshot") },
      "pager": isContinued || next != nil
        ? [
          "label": "Pages of snapshots",
          "range": nil,
          "previous": nil,
          "first": isContinued ? path(nil) : nil,
          "next": next.map { path($0) },
        ] as Fields : nil,
    ]
  }
}

extension SnapshotRecord {
  /// The beginning of the id: enough to tell the snapshots of a list apart.
  var shortID: String { String(id.description.prefix(8)) }

  /// The app and its version in one line.
  var applicationName: String { "\(application.identifier) \(application.version)" }

  /// For a row of the template `snapshots`.
  func rowFields(showsReport: Bool, _ budget: inout PageBudget) -> Fields {
    var row: Fields = [
      "href": PagePath.snapshot(id).description,
      "short": shortID,
      "id": id.description,
      "application": budget.name(application.identifier, most: 80),
      "version": budget.name(application.version, most: 40),
      "device": budget.name(device.model, most: 60),
      "system": budget.name("\(device.system) \(device.systemVersion)", most: 60),
      "recordings": Measures.number(recordingCount),
      "recordingsNoun": recordingCount == 1 ? "recording" : "recordings",
      "size": Measures.sizeFields(size),
      "received": Measures.timeFields(receivedAt),
      "isPinned": isPinned,
      "isDamaged": verified == .damaged,
      "report": nil,
    ]
    if showsReport { row["report"] = reportFields(&budget) }
    return row
  }

  /// The report, with a link to its page where there is room.
  func reportFields(_ budget: inout PageBudget) -> Fields {
    let name = budget.name(report.description, most: 128)
    let path = PagePath.report(report).description
    return ["name": name, "href": budget.take(PageText.length(path)) ? path : nil]
  }
}
