import JSONText
import SnapshotDiff
import SnapshotFormat

extension RecordedChanges {
  /// The number of bytes at which a path and a value are cut off.
  private static let (pathLength, valueLength) = (100, 60)

  /// The changed values for the template `changes`, with links to their places in the newer snapshot.
  func valueRows(from older: SnapshotID, to newer: SnapshotID, _ budget: inout PageBudget) -> [Fields] {
    var rows: [Fields] = []
    for value in values {
      var selection = FileSelection()
      selection.with = older
      let change = value.change
      let href = paths[value.recording].flatMap { path -> String? in
        guard change.second != nil else { return PagePath.preview(newer, file: path, selection).description }
        return PagePath.preview(newer, file: path, selection.showing(siblingsOf: change.place)).description
      }
      let recording = PageText.cut(value.recording.identifier, to: Self.pathLength)
      let path = PageText.cut(change.place.description, to: Self.pathLength)
      let (first, second) = (
        change.first.map { PageText.cut($0, to: Self.valueLength) },
        change.second.map { PageText.cut($0, to: Self.valueLength) }
      )
      let length = recording.length + path.length + (first?.length ?? 0) + (second?.length ?? 0)
      guard budget.take(200 + length + (href.map(PageText.length) ?? 0)) else { break }
      rows.append([
        "href": href, "recording": recording.text, "path": path.text,
        "first": first.map { ["text": $0.text] as Fields },
        "second": second.map { ["text": $0.text] as Fields },
      ])
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
