import SnapshotDiff
import SnapshotFormat

/// The differing recordings of two snapshots, each with the number of its changes and the most telling of them.
struct ComparisonSummary: Encodable {
  /// The maximum number of values of one recording.
  static let mostValues = 3

  /// A recording that differs.
  struct Entry: Encodable {
    let identifier: String
    let call: Int?
    let kind: String
    /// How it was compared, as in the complete comparison; `nil` if only one snapshot has it.
    let compared: String?
    /// The number of changes; `nil` if they can't be counted.
    let count: Int?
    let changes: [Value]
  }

  /// A changed value or line.
  struct Value: Encodable {
    let path: String?
    let line: Int?
    let first: String?
    let second: String?
  }

  let differs: Bool
  /// By identifier and call.
  let recordings: [Entry]
  /// The number of other files that differ, and of identical recordings.
  let files: Int
  let alike: Int

  init(_ comparison: SnapshotComparison) {
    differs = !comparison.isEmpty
    files = comparison.counts.files
    alike = comparison.alike
    let ranking = ChangeRanking()
    let values = Dictionary(grouping: ranking.ranked(comparison.values), by: \.recording)
    let changed = comparison.changed.filter { $0.detail != .omitted }
      .map { (ComparisonSelection.Place($0.second), Entry($0, values[.init($0.second)] ?? [])) }
    let others =
      comparison.removed.map { (ComparisonSelection.Place($0), Entry($0, .removed)) }
      + comparison.added.map { (ComparisonSelection.Place($0), Entry($0, .added)) }
    recordings = (changed + others).sorted { $0.0 < $1.0 }.map(\.1)
  }

  /// One line for each recording, which fits into 80 columns unless an identifier or a path is too long.
  var lines: [String] {
    guard differs else { return ["No differences."] }
    let lines = recordings.map(\.line)
    guard files > 0 else { return lines.isEmpty ? ["Only the descriptions differ."] : lines }
    return lines + ["\(files) other \(files == 1 ? "file differs" : "files differ")"]
  }
}

extension ComparisonSummary.Entry {
  init(_ recording: Manifest.Recording, _ kind: ChangeKind) {
    self.init(
      identifier: recording.identifier, call: recording.call, kind: kind.rawValue, compared: nil, count: nil,
      changes: [])
  }

  init(_ difference: RecordingDifference, _ values: [ValueChange]) {
    let most = ComparisonSummary.mostValues
    let (compared, count, changes): (String, Int?, [ComparisonSummary.Value]) =
      switch difference.detail {
      case .json(let all):
        (
          "json", all.count,
          values.prefix(most).map { value in
            .init(
              path: value.change.place.description, line: nil, first: value.change.first,
              second: value.change.second)
          }
        )
      case .text(let all):
        (
          "text", all.count,
          all.rows.prefix(most).map { .init(path: nil, line: $0.place, first: $0.first, second: $0.second) }
        )
      case .omitted: ("omitted", 0, [])
      case .bytes: ("bytes", nil, [])
      case .beyondLimits: ("beyondLimits", nil, [])
      }
    self.init(
      identifier: difference.second.identifier, call: difference.second.call,
      kind: ChangeKind.changed.rawValue, compared: compared, count: count, changes: changes)
  }

  fileprivate var line: String {
    let (mark, color): (String, Console.Color) =
      switch kind {
      case ChangeKind.added.rawValue: ("+", .green)
      case ChangeKind.removed.rawValue: ("-", .red)
      default: ("~", .yellow)
      }
    let name = Console.escaped(identifier) + (call.map { ", call \($0)" } ?? "")
    var line = "\(mark) \(name)"
    guard kind == ChangeKind.changed.rawValue else { return Console.colored(line, color) }
    line += "  " + (count.map { "\($0) \($0 == 1 ? "change" : "changes")" } ?? "differs")
    for (index, value) in changes.enumerated() {
      let more = (index == 0 ? ": " : ", ") + value.words
      guard index == 0 || line.count + more.count <= Columns.width else { break }
      line += index == 0 ? ": " + Columns.cut(value.words, to: max(20, Columns.width - line.count - 2)) : more
    }
    return Console.colored(mark, color) + line.dropFirst(mark.count)
  }
}

extension ComparisonSummary.Value {
  fileprivate var words: String {
    let place = path.map(Console.escaped) ?? line.map { "line \($0)" } ?? ""
    switch (first, second) {
    case (let first?, let second?):
      return "\(place) \(Console.escaped(first)) → \(Console.escaped(second))"
    case (let first?, nil): return "\(place) \(Console.escaped(first)) removed"
    case (nil, let second): return "\(place) \(Console.escaped(second ?? "")) added"
    }
  }
}
