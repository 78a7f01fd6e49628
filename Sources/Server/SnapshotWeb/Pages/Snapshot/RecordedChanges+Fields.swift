import SnapshotDiff
import SnapshotFormat

extension RecordedChanges {
  /// The changed values for the template `changes`, with links to their places in the newer snapshot.
  func valueRows(from older: SnapshotID, to newer: SnapshotID, _ budget: inout PageBudget) -> [Fields] {
    var rows: [Fields] = []
    for value in values {
      let href = paths[value.recording].map { value.change.page(in: $0, of: newer, comparedWith: older) }
      guard let row = value.change.fields(in: value.recording.identifier, href, &budget) else { break }
      rows.append(row)
    }
    return rows
  }

  /// What else changed, each in a few words.
  var lines: [String] {
    func line(_ label: String, _ names: [String]) -> String? {
      names.isEmpty ? nil : "\(label): " + names.joined(separator: ", ")
    }
    return [
      line("Missing now", removed), line("New", added), line("Other contents", others),
    ].compactMap(\.self)
  }
}
