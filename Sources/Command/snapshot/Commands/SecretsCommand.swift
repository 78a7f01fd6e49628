import ArgumentParser
import Foundation
import SystemIO

struct SecretsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "secrets",
    abstract: "Lists where a snapshot may contain secrets.",
    discussion: """
      Prints the places that `redact` would change, such as JSON paths and line numbers, and never what is there. \
      Changes nothing. Exit codes: 0 nothing was found, 1 something was found, 2 the search failed.
      """)

  @Argument(
    help: """
      A snapshot on a server (UUID or its beginning, report, address), a bundle, a snapshot's folder, or another file \
      or folder.
      """
  )
  var snapshot: String

  @OptionGroup var rules: RulesOptions

  @Flag(help: "Print one JSON array with the places.")
  var json = false

  @OptionGroup var options: ReadingOptions

  func run() async throws {
    let scratch = try ScratchFolder()
    try await SearchStatus.exit {
      let found = try await options.withSource(snapshot) { try rules.redact($0, in: scratch) }.found
      if json {
        Console.print(json: found)
      } else {
        found.flatMap(\.lines).forEach(Console.print)
      }
      return !found.isEmpty
    }
  }
}
