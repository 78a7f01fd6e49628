import SnapshotClient
import SnapshotFormat

/// Describes a snapshot: what the user wrote, what is wrong, and what it contains.
struct OverviewTool: MCPTool {
  let snapshots: OfferedSnapshots

  let name = "snapshot_overview"
  let title = "Overview of a snapshot"
  let description = """
    Shows a snapshot: its problems first (empty, broken and failed recordings, and what was not recorded), then the user's \
    words, comments, app and device, modules, recordings with sizes and outcomes, and attachments.
    """
  let parameters: [ToolParameter] = [.snapshot, .cursor]

  func run(_ arguments: ToolArguments, _ answer: inout AgentAnswer) async throws {
    let from = try arguments.position()
    let opened = try await snapshots.open(arguments.required("snapshot"))
    let snapshot = opened.snapshot
    let problems = try ProblemRow.rows(of: snapshot)
    var lines = problems.map { "problem: \($0.line)" }
    if opened.isOnServer {
      let comments = try await snapshots.client().record(snapshot.manifest.id).comments ?? []
      lines += comments.map { "comment by \($0.author ?? "somebody"): \($0.text)" }
    }
    lines += SnapshotText(snapshot, hasBars: false).lines

    answer.say(
      "Snapshot \(snapshot.manifest.id): \(Console.count(snapshot.manifest.recordings.count, "recording")), \(Console.count(problems.count, "problem"))."
    )
    guard from < lines.count else { return answer.say("There is nothing after this cursor.") }
    let count = answer.quote("the description of the snapshot", lines.dropFirst(from))
    let rest = lines.count - from - count
    if rest > 0 { answer.sayNext("\(from + count)", "\(Console.count(rest, "line")) more.") }
  }
}
