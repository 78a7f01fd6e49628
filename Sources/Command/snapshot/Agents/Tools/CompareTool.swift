import SnapshotDiff
import SnapshotFormat

/// Compares two snapshots.
struct CompareTool: MCPTool {
  let snapshots: OfferedSnapshots

  let name = "compare_snapshots"
  let title = "Compare two snapshots"
  let description = """
    Lists what differs between two snapshots: a line for each recording with the most telling changes. With recording, all \
    changes of that one, with paths. Compare a report with a snapshot that is marked as good, or from an earlier version.
    """
  let parameters = [
    ToolParameter(
      "first", .text, "The snapshot from before, named as for the other tools.", isRequired: true),
    ToolParameter("second", .text, "The snapshot of the bug.", isRequired: true),
    ToolParameter("recording", .text, "Only the recording with this identifier, with all of its changes."),
    ToolParameter(
      "ignore", .text, "Keys and paths that are not compared, with commas: updated_at, $.items[*].token."),
    .cursor,
  ]

  func run(_ arguments: ToolArguments, _ answer: inout AgentAnswer) async throws {
    let from = try arguments.position()
    var selection: ComparisonSelection
    do { selection = ComparisonSelection(filter: try ComparisonFilter(arguments.text("ignore") ?? "")) } catch
    {
      throw ToolFailure("The argument ignore has a malformed rule.", details: [error.description])
    }
    selection.identifier = arguments.text("recording")
    let first = try await snapshots.open(arguments.required("first")).snapshot
    let second = try await snapshots.open(arguments.required("second")).snapshot
    let comparison = try SnapshotComparison(first, second, selection: selection)
    let counts = comparison.counts
    if selection.identifier != nil, comparison.isEmpty, comparison.alike + counts.omitted == 0 {
      throw ToolFailure("Neither snapshot has this recording.")
    }
    answer.say(
      "\(first.manifest.id) and \(second.manifest.id): \(counts.changed) changed, \(counts.removed) only in the first, \(counts.added) only in the second, \(comparison.alike) identical."
    )
    let lines = Self.lines(of: comparison, isWhole: selection.identifier != nil)
    guard from < lines.count else {
      return answer.say(lines.isEmpty ? "No differences." : "There is nothing after this cursor.")
    }
    let count = answer.quote(
      "what differs: ~ changed, - only in the first, + only in the second", lines.dropFirst(from))
    let rest = lines.count - from - count
    if rest > 0 { answer.sayNext("\(from + count)", "\(Console.count(rest, "line")) more.") }
  }

  private static func lines(of comparison: SnapshotComparison, isWhole: Bool) -> [String] {
    guard isWhole else { return comparison.isEmpty ? [] : ComparisonSummary(comparison).lines }
    return comparison.removed.map { "- \(title($0))" } + comparison.added.map { "+ \(title($0))" }
      + comparison.changed.flatMap { difference in
        ["~ \(title(difference.second))"] + changes(in: difference.detail)
      }
  }

  private static func title(_ recording: Manifest.Recording) -> String {
    recording.identifier + (recording.call.map { ", call \($0)" } ?? "")
  }

  private static func changes(in detail: RecordingDifference.Detail) -> [String] {
    if let remark = detail.remark { return ["  \(remark)"] }
    switch detail {
    case .json(let changes):
      return changes.rows.map { line("\($0.place)", $0.first, $0.second) }
        + more(changes.count, changes.rows.count)
    case .text(let changes):
      return changes.rows.map { line("line \($0.place)", $0.first, $0.second) }
        + more(changes.count, changes.rows.count)
    case .omitted, .bytes, .beyondLimits: return []
    }
  }

  private static func line(_ place: String, _ first: String?, _ second: String?) -> String {
    switch (first, second) {
    case (let first?, let second?): "  ~ \(place): \(first) → \(second)"
    case (let first?, nil): "  - \(place): \(first)"
    case (nil, let second): "  + \(place): \(second ?? "")"
    }
  }

  private static func more(_ count: Int, _ listed: Int) -> [String] {
    count > listed ? ["  … and \(count - listed) more changes"] : []
  }
}
