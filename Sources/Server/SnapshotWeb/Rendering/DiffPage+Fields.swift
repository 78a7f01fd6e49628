import SnapshotAPI
import SnapshotFormat

extension DiffPage {
  var title: String {
    second.map { "\(first.shortID) and \($0.shortID)" } ?? "Compare \(first.shortID)"
  }

  var fields: Fields {
    var budget = PageBudget()
    let other = second.map { Self.side("second", $0, &budget) }
    return [
      "sides": [Self.side("first", first, &budget)] + (other.map { [$0] } ?? []),
      "swap": second.map { PagePath.diff($0.id, with: first.id).description },
      "action": PagePath.diff(first.id).description,
      "field": PageField.with.rawValue,
      "entered": entered.isEmpty ? nil : PageText.cut(entered, to: 400).text,
      "mistake": mistake.map { PageText.cut($0, to: 600).text },
      "isChoice": second == nil,
      "candidates": budget.part(12_000) { candidateRows(&$0) },
      "differences": differences?.fields(first, second ?? first, &budget),
    ]
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
    for candidate in candidates.prefix(PageLimits.names) where candidate.id != first.id {
      guard budget.take(400) else { break }
      var row = budget.part(500) { candidate.rowFields(showsReport: true, &$0) }
      row["compare"] = PagePath.diff(first.id, with: candidate.id).description
      rows.append(row)
    }
    return rows
  }
}
