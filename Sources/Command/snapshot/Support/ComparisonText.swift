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
    if comparison.isEmpty { return print("No differences. Recordings: \(counts).") }
    print("")
    for fact in comparison.facts {
      Self.lines(of: fact, indent: 0, place: fact.place.description, first: fact.first, second: fact.second)
        .forEach(print)
    }
    for recording in comparison.removed { print(Self.line(.removed, recording)) }
    for recording in comparison.added { print(Self.line(.added, recording)) }
    for difference in comparison.changed where difference.detail != .omitted {
      Self.lines(of: difference).forEach(print)
    }
    for file in comparison.files {
      Self.lines(
        of: file, indent: 0, place: PortableName.decode(path: file.place), first: Self.size(file.first),
        second: Self.size(file.second)
      ).forEach(print)
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
    let files = comparison.counts.files == 0 ? "" : "; other files: \(comparison.counts.files) changed"
    return "Recordings: \(counts)\(files)"
  }

  private var counts: String {
    let counts = comparison.counts
    let words = [
      (counts.changed, "changed"), (counts.removed, "removed"), (counts.added, "added"),
      (counts.omitted, "differ only in values that the filter omits"), (comparison.alike, "identical"),
    ]
    return words.filter { $0.0 > 0 || $0.1 == "identical" }.map { "\($0) \($1)" }.joined(separator: ", ")
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
    if let remark = difference.detail.remark { return [title, "    " + remark] }
    switch difference.detail {
    case .json(let changes): return [title] + lines(of: changes) { $0.description }
    case .text(let changes): return [title] + lines(of: changes) { "line \($0)" }
    case .omitted, .bytes, .beyondLimits: return [title]
    }
  }

  private static func lines<Place>(of changes: Changes<Place>, _ name: (Place) -> String) -> [String] {
    let lines = changes.rows.flatMap {
      self.lines(of: $0, indent: 4, place: name($0.place), first: $0.first, second: $0.second)
    }
    let rest = changes.count - changes.rows.count
    return rest > 0 ? lines + ["    … and \(rest) more"] : lines
  }

  private static func lines<Place>(
    of change: Change<Place>, indent: Int, place: String, first: String?, second: String?
  ) -> [String] {
    let blanks = String(repeating: " ", count: indent)
    let place = Console.escaped(place)
    let head = blanks + marked(change.kind, " " + place)
    let values = [first, second].compactMap { $0.map(Console.escaped) }
    let length = indent + 2 + place.count + 2 + values.joined(separator: " → ").count
    if length <= Columns.width { return ["\(head)  \(values.joined(separator: " → "))"] }
    let room = Columns.width - indent - 6
    let arrows = values.count == 2 ? ["  ", "→ "] : ["  "]
    return [head] + zip(arrows, values).map { "\(blanks)    \($0)\(Columns.cut($1, to: room))" }
  }
}
