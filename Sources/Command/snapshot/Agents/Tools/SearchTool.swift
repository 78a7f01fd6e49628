import SnapshotViewer

/// Searches the contents of a snapshot.
struct SearchTool: MCPTool {
  let snapshots: OfferedSnapshots

  let name = "search_contents"
  let title = "Search a snapshot"
  let description = """
    Finds values and lines in all recordings and attachments of a snapshot, grouped by their paths, the rare values first. \
    The pattern is a word, a number, "exact text", or a text with *; key:TEXT or value:TEXT; a key and a condition, such as \
    width:-1, width:<0 or width:null; a path and a condition, such as .items[*].name:paid; or id:type:string.
    """
  let parameters: [ToolParameter] = [
    .snapshot, ToolParameter("pattern", .text, "What to find.", isRequired: true), .cursor,
  ]

  func run(_ arguments: ToolArguments, _ answer: inout AgentAnswer) async throws {
    let from = try arguments.position()
    let query: ContentQuery
    do { query = try ContentQuery(arguments.required("pattern")) } catch let error as ContentQuery.Malformed {
      throw ToolFailure("The pattern is malformed.", details: [error.description])
    }
    let opened = try await snapshots.open(arguments.required("snapshot"))
    let (found, tooLarge) = try opened.files.results(of: ContentSearch(query))
    if !tooLarge.isEmpty { answer.say("\(Console.count(tooLarge.count, "file")) too large to be searched.") }
    guard !found.isEmpty else { return answer.say("Nothing was found.") }
    let places = found.reduce(0) { $0 + $1.count }
    answer.say("Found \(Console.count(places, "place")) in \(Console.count(found.count, "file")).")
    let lines = found.flatMap { file in file.lines }
    guard from < lines.count else { return answer.say("There is nothing after this cursor.") }
    let count = answer.quote(
      "file, path and count, then value × count and its first place", lines.dropFirst(from))
    let rest = lines.count - from - count
    if rest > 0 { answer.sayNext("\(from + count)", "\(Console.count(rest, "line")) more.") }
  }
}
