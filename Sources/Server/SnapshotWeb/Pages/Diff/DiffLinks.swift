import HTTPSemantics
import JSONText
import SnapshotDiff
import SnapshotFormat
import SnapshotViewer

/// The links of a comparison.
struct DiffLinks {
  let first: SnapshotID
  let second: SnapshotID
  let selection: DiffSelection
  private let filter: ComparisonFilter

  /// The links of `page`; `nil` if nothing is compared.
  init?(page: DiffPage) {
    guard let second = page.second else { return nil }
    first = page.first.id
    self.second = second.id
    selection = page.selection
    filter = page.filter
  }

  /// The page of another part of the comparison.
  func path(_ selection: DiffSelection) -> String {
    PagePath.diff(first, with: second, selection).description
  }

  /// The page of all changes of an item.
  func item(_ item: DiffSelection.Item, from: Int = 0) -> String {
    var selection = selection.showing(item)
    selection.from = from
    return path(selection)
  }

  /// The same comparison with the snapshots exchanged.
  var swapped: String { PagePath.diff(second, with: first, selection.showing(selection.item)).description }

  /// The same page, independent of the server's rules.
  var permanent: String {
    var selection = selection
    selection.ignored = filter.rules.joined(separator: ",")
    return path(selection)
  }

  /// The same comparison with the server's rules.
  var withRulesOfServer: String {
    var selection = DiffSelection()
    selection.item = self.selection.item
    return path(selection)
  }

  /// The page of a file.
  func file(_ path: String, isFirst: Bool) -> String {
    PagePath.preview(isFirst ? first : second, file: path, selection(isFirst)).description
  }

  /// A selection of a file of one snapshot, compared with the other one.
  private func selection(_ isFirst: Bool) -> FileSelection {
    var selection = FileSelection()
    selection.with = isFirst ? second : first
    return selection
  }

  /// The place of a JSON value among its siblings in its file; `nil` if the path does not lead there.
  func value(_ path: JSONPath, in file: String, isFirst: Bool) -> String? {
    let mostBytes = 2000
    let keyLength = ComparisonLimits.list.keyLength
    let isWhole = path.steps.allSatisfy { step in
      // A longer key may have been truncated.
      if case .key(let key) = step { key.utf8.count < keyLength } else { true }
    }
    let pointer = path.pointer
    guard isWhole, pointer.utf8.count <= mostBytes else { return nil }
    let page = PagePath.preview(
      isFirst ? first : second, file: file, selection(isFirst).showing(siblingsOf: path))
    return page.description + (pointer.isEmpty ? "" : "#" + PercentCoding.encode(pointer))
  }

  /// The place of a line, counted from 1, in its file.
  func line(_ number: Int, in file: String, isFirst: Bool) -> String {
    let leadingLines = 4
    let selection = selection(isFirst).viewed(as: .text).starting(at: max(0, number - leadingLines))
    return PagePath.preview(isFirst ? first : second, file: file, selection).description + "#L\(number)"
  }
}
