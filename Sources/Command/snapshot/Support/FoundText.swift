import SnapshotFormat
import SnapshotViewer

/// What a search found in one file, as text and as JSON.
struct FoundFile: Encodable {
  /// A value, and how often it occurs.
  struct Value: Encodable {
    let value: String
    /// The type of a JSON value; `nil` for a line.
    let type: String?
    let count: Int
    /// The path to the first place, as a JSON Pointer, or the number of the first line, from 1.
    let pointer: String?
    let line: Int?
    /// Whether ``value`` is only a part of the value.
    let isCut: Bool
  }

  /// The values at places whose paths differ only in indices of arrays.
  struct Group: Encodable {
    /// The path with `[*]` instead of indices; `nil` for lines.
    let path: String?
    let count: Int
    let values: [Value]
    /// The number of places of values that are not listed.
    let otherCount: Int
  }

  let snapshot: String
  let file: String
  let identifier: String
  let call: Int?
  let count: Int
  let groups: [Group]
  /// The number of places in groups that are not listed.
  let otherCount: Int

  init(_ findings: ContentFindings, in file: SearchedSource.File, of source: SearchedSource) {
    snapshot = source.name
    (self.file, identifier, call) = (file.path, file.name, file.call)
    (count, otherCount) = (findings.count, findings.otherCount)
    groups = findings.groups.map { group in
      Group(
        path: group.pattern, count: group.count,
        values: group.values.map { value in
          Value(
            value: value.excerpt.text, type: value.type?.rawValue, count: value.count,
            pointer: value.path?.pointer, line: value.line.map { $0 + 1 }, isCut: !value.isWhole)
        }, otherCount: group.otherCount)
    }
  }

  /// A line for the file, one for each path, and an indented one for each value. Texts of the snapshot are escaped.
  var lines: [String] {
    let title = identifier + (call.map { ", call \($0)" } ?? "")
    var lines = [Console.bold(Console.escaped(title))]
    for group in groups {
      if let path = group.path { lines.append("  \(Console.escaped(path))  \(group.count)") }
      lines += group.values.map(Self.line)
      if group.otherCount > 0 { lines.append("    … \(group.otherCount) × other values") }
    }
    if otherCount > 0 { lines.append("  … \(otherCount) in other places") }
    return lines
  }

  private static func line(_ value: Value) -> String {
    let quote = value.type == ContentType.string.rawValue ? "\"" : ""
    let text = Columns.cut(Console.escaped(quote + value.value + quote), to: 100)
    let place = value.line.map { "line \($0): " } ?? ""
    return "    \(place)\(text) × \(value.count)\(value.pointer.map { "  \(Console.escaped($0))" } ?? "")"
  }
}
