import ArgumentParser
import SnapshotDiff
import SnapshotFormat
import SystemIO

struct DiffCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Compares two snapshots.",
    discussion: """
      Lists the recordings that only one snapshot contains, and the differences of those in both: for JSON each \
      changed value with its path in the notation of jq, for other text the changed lines. Exit codes: 0 no \
      differences, 1 differences, 2 the comparison failed.
      """)

  @Argument(
    help: """
      The first snapshot: one on a server (UUID or its beginning, report, address), a bundle, or a snapshot's folder.
      """)
  var first: String

  @Argument(help: "The second snapshot, in the same forms.")
  var second: String

  @Option(
    help: ArgumentHelp(
      """
      Do not compare JSON values that match this rule: a key such as updated_at, or a path such as $.items[*].token. \
      Can be repeated; commas separate rules too.
      """, valueName: "rule"))
  var ignore: [String] = []

  @Option(help: "Compare only the recording with this identifier.")
  var recording: String?

  @Flag(help: "Print one line for each recording, with the number of its changes and the first of them.")
  var summary = false

  @Flag(help: "Print one JSON object.")
  var json = false

  @OptionGroup var options: ReadingOptions

  func run() async throws { try await SearchStatus.exit(isOne: compare) }

  /// Prints the differences, and returns whether there are any.
  private func compare() async throws -> Bool {
    var selection: ComparisonSelection
    do {
      selection = ComparisonSelection(filter: try ComparisonFilter(ignore.joined(separator: "\n")))
    } catch {
      throw CommandFailure("--ignore: \(error.description)", status: .refused)
    }
    selection.identifier = recording
    let (first, second) = (try await options.open(first), try await options.open(second))
    let comparison: SnapshotComparison
    do {
      comparison = try SnapshotComparison(first, second, selection: selection)
    } catch {
      throw CommandFailure(error.description)
    }
    if let recording, comparison.isEmpty, comparison.alike + comparison.counts.omitted == 0 {
      throw CommandFailure("Neither snapshot has a recording ‘\(Console.escaped(recording))’.")
    }
    if summary {
      let summary = ComparisonSummary(comparison)
      if json { Console.print(json: summary) } else { summary.lines.forEach(Console.print) }
    } else if json {
      Console.print(json: comparison)
    } else {
      ComparisonText(first.manifest, second.manifest, comparison).forEachLine(Console.print)
    }
    return !comparison.isEmpty
  }
}
