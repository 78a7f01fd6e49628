import JSONText
import SnapshotDiff
import SnapshotFormat

extension Change<JSONPath> {
  /// The number of bytes at which a name or path and a value are cut off.
  private static var nameLength: Int { 100 }
  private static var valueLength: Int { 60 }

  /// Returns the page of the changed value among its siblings in `file`, or that of the file if the value was removed.
  func page(in file: String, of newer: SnapshotID, comparedWith older: SnapshotID) -> String {
    var selection = FileSelection()
    selection.with = older
    if second != nil { selection = selection.showing(siblingsOf: place) }
    return PagePath.preview(newer, file: file, selection).description
  }

  /// Returns the values of a row of the template `values-changed`; `nil` if the budget does not suffice.
  /// - Parameters:
  ///   - recording: the identifier of the recording, if it is not obvious.
  ///   - href: where the value is shown.
  func fields(in recording: String?, _ href: String?, _ budget: inout PageBudget) -> Fields? {
    let recording = recording.map { PageText.cut($0, to: Self.nameLength) }
    let path = PageText.cut(place.description, to: Self.nameLength)
    let values = [first, second].map { value in value.map { PageText.cut($0, to: Self.valueLength) } }
    let length = values.reduce((recording?.length ?? 0) + path.length) { $0 + ($1?.length ?? 0) }
    guard budget.take(200 + length + (href.map(PageText.length) ?? 0)) else { return nil }
    return [
      "href": href, "recording": recording?.text, "path": path.text,
      "first": values[0].map { ["text": $0.text] as Fields },
      "second": values[1].map { ["text": $0.text] as Fields },
    ]
  }
}
