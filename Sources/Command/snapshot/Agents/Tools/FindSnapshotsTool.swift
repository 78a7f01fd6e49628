import SnapshotClient
import SnapshotFormat

/// Lists the snapshots of the server, and the offered files.
struct FindSnapshotsTool: MCPTool {
  /// The default and maximum number of snapshots in an answer.
  static let usual = 8
  static let most = 20
  /// The maximum number of characters of a text of others.
  private static let shown = 300

  let snapshots: OfferedSnapshots

  let name = "find_snapshots"
  let title = "Find snapshots"
  let description = """
    Lists snapshots, newest first: UUID, time, report, app, number of problems, and what the user wrote. Without \
    arguments, the newest ones of all reports, and the files that the user offers.
    """
  let parameters = [
    ToolParameter("report", .text, "Only snapshots of this bug report, such as BUG-123."),
    ToolParameter("application", .text, "Only snapshots of this app, such as com.example.news."),
    ToolParameter(
      "version", .text, "Only snapshots of this version and its subversions: 3.1 also finds 3.1.4."),
    ToolParameter("text", .text, "Only snapshots with all of these words in identifiers, note or fields."),
    ToolParameter("limit", .number(1...most), "The most snapshots; \(usual) if left out."),
    .cursor,
  ]

  func run(_ arguments: ToolArguments, _ answer: inout AgentAnswer) async throws {
    var filter = SnapshotFilter()
    if let text = arguments.text("report") {
      guard let report = ReportID(text) else { throw ToolFailure("This is not the id of a report.") }
      filter.report = report
    }
    filter.application = arguments.text("application")
    filter.minimumVersion = arguments.text("version")
    filter.maximumVersion = filter.minimumVersion
    filter.text = arguments.text("text")
    let cursor = arguments.text("cursor")
    if filter == SnapshotFilter(), cursor == nil, snapshots.offersFiles {
      listFiles(&answer)
      guard snapshots.hasServer else { return }
    }

    var page: SnapshotAPIClient.Page
    do {
      let limit = arguments.number("limit") ?? Self.usual
      page = try await snapshots.client().page(filter, limit: limit, after: cursor)
    } catch let error as SnapshotClientError {
      // Files can be read without a server.
      guard !answer.text.isEmpty else { throw error }
      answer.say("The server does not list its snapshots.")
      answer.quote("the reason", ["\(error)"])
      return
    }
    guard !page.records.isEmpty else { return answer.say("No snapshot on the server matches.") }
    answer.say("Snapshots on the server, newest first:")
    let count = answer.quote("descriptions of snapshots", page.records.map(Self.line))
    if count < page.records.count {
      page = try await snapshots.client().page(filter, limit: max(1, count), after: cursor)
    }
    guard let next = page.next else { return }
    if next.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }), next.utf8.count <= 300 {
      answer.sayNext(next, "There are more.")
    } else {
      answer.say("There are more; narrow the search.")
    }
  }

  private func listFiles(_ answer: inout AgentAnswer) {
    let (paths, isCut) = snapshots.offered()
    guard !paths.isEmpty else { return answer.say("The folders that the user offers contain no snapshots.") }
    answer.say("Files that the user offers; pass a path as the argument snapshot:")
    let count = answer.quote(
      "paths of files", paths.prefix(50).map { Columns.cut($0, to: Self.shown) }, share: 0.4)
    if isCut || count < paths.count { answer.say("There are more files; only the first are listed.") }
  }

  private static func line(_ record: SnapshotRecord) -> String {
    func cut(_ text: String) -> String { Columns.cut(text, to: shown) }
    var parts = [
      "\(record.id)", SnapshotJSON.text(of: record.receivedAt), "\(record.report)",
      cut("\(record.application.identifier) \(record.application.version)"),
      Console.count(record.recordingCount, "recording"),
    ]
    if let problems = record.problemCount { parts.append(Console.count(problems, "problem")) }
    if record.isGood { parts.append("marked as good") }
    if let note = record.metadata["note"] { parts.append("note: " + cut(note)) }
    return parts.joined(separator: ", ")
  }
}
