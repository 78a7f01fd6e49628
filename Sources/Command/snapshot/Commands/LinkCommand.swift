import ArgumentParser
import Foundation
import SnapshotClient
import SnapshotFormat

struct LinkCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "link",
    abstract: "Creates a link that allows the download of a bundle without a token for a limited time.",
    discussion: """
      Prints the link, for example for a bug tracker. Everyone who has the link can download this bundle, and nothing \
      else, until the link expires. To revoke a link early, delete the snapshot.
      """)

  @Argument(help: "A UUID or its beginning, a report, whose newest snapshot is meant, or an address.")
  var snapshot: String

  @Option(help: ArgumentHelp("How long the link is valid: 90s, 15m, 1h, 30d.", valueName: "time"))
  var expires: TimeSpan

  @Flag(help: "Print the link and its expiration date as JSON.")
  var json = false

  @OptionGroup var options: ServerOptions

  func run() async throws {
    let (reference, client) = try await options.resolve(snapshot)
    let link = try await client.link(to: reference.id, seconds: Int(expires.seconds))
    if json {
      Console.print(json: link)
    } else {
      Console.message("The link is valid until \(link.expiresAt.formatted(.iso8601)).")
      Console.print(link.url.absoluteString)
    }
  }
}
