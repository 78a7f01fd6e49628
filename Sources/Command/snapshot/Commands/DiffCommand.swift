import ArgumentParser
import SnapshotClient
import SnapshotDiff
import SnapshotFormat
import Synchronization

struct DiffCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Shows what differs between two snapshots.",
    discussion: """
      Recordings that only one of them has, and what differs in those that both have: in JSON by its structure, each \
      change with its path as jq reads it; in text by its lines. Exit codes: 0 nothing differs, 1 something does, 2 it \
      can't be told.
      """)

  @Argument(help: "The one: a UUID on the server, an address of a bundle, a bundle, or a snapshot's folder.")
  var first: String

  @Argument(help: "The other, in the same way.")
  var second: String

  @Flag(help: "Print one JSON object.")
  var json = false

  @OptionGroup var options: ServerOptions

  func run() async throws {
    let differs: Bool
    do {
      differs = try await compare()
    } catch let failure as CommandFailure {
      throw CommandFailure(failure.description, status: .refused)
    } catch let error as SnapshotClientError {
      throw CommandFailure(error.description, status: .refused)
    }
    if Console.lostOutput.load(ordering: .relaxed) {
      throw CommandFailure("The result could not be written to stdout.", status: .refused)
    }
    if differs { throw ExitCode(1) }
  }

  /// Prints what differs; answers whether anything does.
  private func compare() async throws -> Bool {
    let (first, second) = (try await options.open(first), try await options.open(second))
    let comparison: SnapshotComparison
    do throws(BundleError) {
      comparison = try SnapshotComparison(first, second)
    } catch {
      throw CommandFailure(error.description)
    }
    if json {
      Console.print(json: comparison)
    } else {
      ComparisonText(first.manifest, second.manifest, comparison).forEachLine(Console.print)
    }
    return !comparison.isEmpty
  }
}
