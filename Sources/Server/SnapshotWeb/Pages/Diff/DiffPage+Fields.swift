import SnapshotAPI
import SnapshotDiff
import SnapshotFormat

extension DiffPage: Page {
  var template: PageTemplates.Name { .diff }
  var title: String {
    second.map { "\(first.shortID) and \($0.shortID)" } ?? "Compare \(first.shortID)"
  }

  /// The budget for a comparison, in bytes.
  static let budget = 350_000

  func fields(in _: PageFrame) -> Fields {
    var budget = PageBudget(Self.budget)
    let other = second.map { Self.side("second", $0, &budget) }
    let links = DiffLinks(page: self)
    let item =
      if case .item(let item)? = content { links.map { item.fields($0, &budget) } } else { Fields?.none }
    let list =
      if case .list(let list)? = content { links.map { list.fields($0, &budget) } } else { Fields?.none }
    return [
      "report": budget.part(800) { first.reportFields(&$0) },
      "snapshot": PagePath.snapshot(first.id).description,
      "applicationName": budget.name(first.applicationName, most: 300),
      "short": first.shortID,
      "sides": [Self.side("first", first, &budget)] + (other.map { [$0] } ?? []),
      "swap": links?.swapped,
      "list": item == nil ? nil : links?.path(selection.showing(nil)),
      "permanent": links.map {
        ["href": $0.permanent, "text": origin + $0.permanent, "label": "the permanent link"] as Fields
      },
      "action": PagePath.diff(first.id).description,
      "field": PageField.with.rawValue,
      "entered": (second?.id.description ?? entered).isEmpty
        ? nil : PageText.cut(second?.id.description ?? entered, to: 400).text,
      "mistake": mistake?.field == .with ? mistake.map { PageText.cut($0.text, to: 600).text } : nil,
      "isChoice": second == nil,
      "candidates": budget.part(14_000) { candidateRows(&$0) },
      "filter": filterFields(links, &budget),
      "differences": list,
      "item": item,
    ]
  }

  private func filterFields(_ links: DiffLinks?, _ budget: inout PageBudget) -> Fields? {
    guard let second else { return nil }
    let text = selection.ignored ?? filter.rules.joined(separator: ", ")
    var fields: Fields = [
      "action": PagePath.diff(first.id).description, "with": PageField.with.rawValue,
      "second": second.id.description, "field": PageField.ignore.rawValue,
      "text": budget.part(30_000) { PageText.cut(text, to: $0.left).text },
      "mistake": mistake?.field == .ignore ? mistake.map { PageText.cut($0.text, to: 600).text } : nil,
      "isOpen": mistake?.field == .ignore || selection.ignored != nil,
      "count": filter.isEmpty ? nil : Measures.count(filter.rules.count, "rule"),
      "item": nil, "itemField": nil, "call": nil, "callField": PageField.call.rawValue,
      "reset": selection.ignored == nil ? nil : links?.withRulesOfServer,
    ]
    switch selection.item {
    case .recording(let place):
      (fields["itemField"], fields["item"]) = (PageField.recording.rawValue, place.identifier)
      fields["call"] = place.call > 0 ? "\(place.call)" : nil
    case .file(let name): (fields["itemField"], fields["item"]) = (PageField.file.rawValue, name)
    case nil: break
    }
    return fields
  }

  private static func side(_ place: String, _ record: SnapshotRecord, _ budget: inout PageBudget) -> Fields {
    budget.part(1200) { budget in
      var fields = record.rowFields(showsReport: true, &budget)
      fields["place"] = place
      fields["label"] = place == "first" ? "First" : "Second"
      return fields
    }
  }

  private func candidateRows(_ budget: inout PageBudget) -> [Fields] {
    var rows: [Fields] = []
    let sorted = candidates.filter { $0.id == proposed } + candidates.filter { $0.id != proposed }
    for candidate in sorted.prefix(PageLimits.names) where candidate.id != first.id {
      guard budget.take(460) else { break }
      var row = budget.part(500) { candidate.rowFields(showsReport: true, &$0) }
      row["isProposed"] = candidate.id == proposed
      row["isOfReport"] = candidate.report == first.report
      // What is new is the second side.
      let isOlder = candidate.receivedAt < first.receivedAt
      row["compare"] =
        (isOlder ? PagePath.diff(candidate.id, with: first.id) : PagePath.diff(first.id, with: candidate.id))
        .description
      rows.append(row)
    }
    return rows
  }
}
