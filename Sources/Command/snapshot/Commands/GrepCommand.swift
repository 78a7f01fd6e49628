import ArgumentParser
import SnapshotClient
import SnapshotFormat
import SnapshotViewer
import SystemIO

struct GrepCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "grep",
    abstract: "Searches the contents of snapshots.",
    discussion: """
      The pattern is a word, a number, "exact text", or a text with *; key:TEXT or value:TEXT; a key and a condition, such \
      as width:-1, width:'<0' or width:null; a path, such as .items[*].name, and a condition; or id:type:string. Values are \
      grouped by their paths, the rare ones first. A pattern that begins with - follows --. Exit codes: 0 something was \
      found, 1 nothing, 2 the search failed.
      """)

  /// The number of the newest snapshots of a report that are searched.
  private static let newest = 20

  @Argument(help: "What to find.")
  var pattern: String

  @Argument(
    help:
      "UUIDs on the server, addresses of bundles, bundles, snapshots' folders, or other files and folders.")
  var snapshots: [String] = []

  @Option(
    help: ArgumentHelp("Search the newest \(newest) snapshots of this bug report.", valueName: "id"),
    transform: ReportID.init(argument:))
  var report: ReportID?

  @Flag(help: "Print one JSON array.")
  var json = false

  @OptionGroup var options: ReadingOptions

  func validate() throws {
    guard !snapshots.isEmpty || report != nil else {
      throw ValidationError("Name a snapshot, a file or a folder, or pass --report.")
    }
  }

  func run() async throws { try await SearchStatus.exit { try await !search() } }

  private func search() async throws -> Bool {
    let query: ContentQuery
    do { query = try ContentQuery(pattern) } catch {
      throw CommandFailure(error.description, status: .refused)
    }
    let search = ContentSearch(query)
    var sources = snapshots
    if let report {
      for try await record in try options.server.client().list(SnapshotFilter(report: report)) {
        sources.append(record.id.description)
        if sources.count == snapshots.count + Self.newest { break }
      }
    }
    var found: [FoundFile] = []
    var isFound = false
    for source in sources {
      // A bundle stays readable after its file was removed.
      let files = try await options.withSource(source) { try SearchedSource($0) }
      let (results, large) = try files.results(of: search)
      for name in large.prefix(20) { Console.message("Too large to be searched: \(Console.escaped(name))") }
      if !json, sources.count > 1, !results.isEmpty { Console.print(Console.escaped(files.name)) }
      if !json { for file in results { file.lines.forEach(Console.print) } }
      isFound = isFound || !results.isEmpty
      if json { found += results }
    }
    if json { Console.print(json: found) }
    return isFound
  }
}
