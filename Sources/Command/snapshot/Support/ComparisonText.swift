import Foundation
import SnapshotDiff
import SnapshotFormat

/// Describes the differences between two snapshots. Lines fit into 80 columns unless a path or an identifier is too
/// long.
struct ComparisonText {
  private let first: Manifest
  private let second: Manifest
  private let comparison: SnapshotComparison

  init(_ first: Manifest, _ second: Manifest, _ comparison: SnapshotComparison) {
    self.first = first
    self.second = second
    self.comparison = comparison
  }

  /// Calls `print` with each line.
  func forEachLine(_ print: (String) -> Void) {
    print(Self.marked(.removed, "  \(Self.name(first))"))
    print(Self.marked(.added, "  \(Self.name(second))"))
    if comparison.isEmpty { return print("Nothing differs: \(comparison.alike) recordings are alike.") }
    print("")
    for fact in comparison.facts {
      Self.lines(of: fact, indent: 0, first: fact.first, second: fact.second).forEach(print)
    }
    for recording in comparison.removed { print(Self.line(.removed, recording)) }
    for recording in comparison.added { print(Self.line(.added, recording)) }
    for difference in comparison.changed { Self.lines(of: difference).forEach(print) }
    for file in comparison.files {
      Self.lines(of: file, indent: 0, first: Self.size(file.first), second: Self.size(file.second))
        .forEach(print)
    }
    print("")
    print(summary)
  }

  private static func name(_ manifest: Manifest) -> String {
    let application = manifest.application
    let time = manifest.createdAt.formatted(.iso8601)
    return Console.escaped("\(manifest.id)  \(time)  \(application.identifier) \(application.version)")
  }

  private var summary: String {
    let counts = [
      "\(comparison.alike) alike", "\(comparison.removed.count) removed", "\(comparison.added.count) added",
      "\(comparison.changed.count) changed",
    ]
    let files = comparison.files.isEmpty ? "" : "; other files: \(comparison.files.count) differ"
    return "Recordings: \(counts.joined(separator: ", "))\(files)"
  }

  private static func marked(_ kind: ChangeKind, _ text: String) -> String {
    switch kind {
    case .removed: Console.colored("-" + text, .red)
    case .added: Console.colored("+" + text, .green)
    case .changed: Console.colored("~" + text, .yellow)
    }
  }

  private static func line(_ kind: ChangeKind, _ recording: Manifest.Recording) -> String {
    "\(marked(kind, " " + title(recording)))  \(Console.size(recording.size))"
  }

  private static func title(_ recording: Manifest.Recording) -> String {
    Console.escaped(recording.identifier) + (recording.call.map { ", call \($0)" } ?? "")
  }

  private static func size(_ text: String?) -> String? { text.flatMap(Int64.init).map(Console.size) }

  private static func lines(of difference: RecordingDifference) -> [String] {
    let sizes = "\(Console.size(difference.first.size)) → \(Console.size(difference.second.size))"
    let title = "\(marked(.changed, " " + title(difference.second)))  \(sizes)"
    switch difference.detail {
    case .json(let changes, _) where changes.isEmpty:
      return [title, "    the same JSON, formatted differently"]
    case .json(let changes, let isComplete):
      return [title] + changes.flatMap { lines(of: $0, indent: 4, first: $0.first, second: $0.second) }
        + rest(isComplete)
    case .text(let changes, let isComplete):
      return [title]
        + changes.flatMap {
          lines(of: $0, indent: 4, place: "line \($0.place)", first: $0.first, second: $0.second)
        } + rest(isComplete)
    case .bytes(let offset):
      return [title, "    not text; the first difference is at byte \(offset)"]
    case .beyondLimits:
      return [title, "    too large or too complex to compare"]
    }
  }

  private static func rest(_ isComplete: Bool) -> [String] { isComplete ? [] : ["    … and more"] }

  private static func lines<Place: CustomStringConvertible>(
    of change: Change<Place>, indent: Int, place: String? = nil, first: String?, second: String?
  ) -> [String] {
    let blanks = String(repeating: " ", count: indent)
    let place = Console.escaped(place ?? change.place.description)
    let head = blanks + marked(change.kind, " " + place)
    let values = [first, second].compactMap { $0.map(Console.escaped) }
    let length = indent + 2 + place.count + 2 + values.joined(separator: " → ").count
    if length <= Columns.width { return ["\(head)  \(values.joined(separator: " → "))"] }
    let room = Columns.width - indent - 6
    let arrows = values.count == 2 ? ["  ", "→ "] : ["  "]
    return [head] + zip(arrows, values).map { "\(blanks)    \($0)\(Columns.cut($1, to: room))" }
  }
}
