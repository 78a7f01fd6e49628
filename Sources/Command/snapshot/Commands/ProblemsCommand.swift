import ArgumentParser
import Foundation
import SnapshotFormat
import SystemIO

struct ProblemsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "problems",
    abstract: "Lists what is wrong with the recordings of a snapshot.",
    discussion: """
      Names recordings that are empty, cut off, invalid JSON or an error page, exchanges that failed, and what was not \
      recorded. Exit codes: 0 nothing was found, 1 something was found, 2 the snapshot can't be read.
      """)

  @Argument(help: "A UUID on the server, the address of a bundle, a bundle, or a snapshot's folder.")
  var snapshot: String

  @Flag(help: "Print one JSON array with the problems.")
  var json = false

  @OptionGroup var options: ReadingOptions

  func run() async throws {
    try await SearchStatus.exit {
      let rows = try ProblemRow.rows(of: try await options.open(snapshot))
      if json { Console.print(json: rows) } else { rows.map(\.line).forEach(Console.print) }
      return !rows.isEmpty
    }
  }
}
