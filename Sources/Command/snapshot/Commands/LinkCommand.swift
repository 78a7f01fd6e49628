import ArgumentParser
import Foundation
import SnapshotClient
import SnapshotFormat

struct LinkCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "link",
    abstract: "Makes a link under which anybody may download one bundle for some time, and prints it.",
    discussion: """
      For a bug tracker: the link works without a token, for this bundle alone and until it ends. Whoever has the link \
      has the bundle. It can't be taken back, but by deleting the snapshot.
      """)

  @Argument(help: "The snapshot's UUID, or its address on a server.")
  var snapshot: String

  @Option(help: ArgumentHelp("How long it works: 90s, 15m, 1h, 30d.", valueName: "time"))
  var expires: TimeSpan

  @Flag(help: "Print the link and its end as JSON.")
  var json = false

  @OptionGroup var options: ServerOptions

  func run() async throws {
    let (reference, client) = try options.resolve(snapshot)
    let link = try await client.link(to: reference.id, seconds: Int(expires.seconds))
    if json {
      Console.print(String(decoding: try SnapshotJSON.encode(link, pretty: true), as: UTF8.self))
    } else {
      Console.note("It works until \(link.expiresAt.formatted(.iso8601)).")
      Console.print(link.url.absoluteString)
    }
  }
}
