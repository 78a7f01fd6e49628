import ArgumentParser
import SnapshotClient

struct WebhooksTestCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test",
    abstract: "Sends a test event to a webhook, and prints what the receiver answered.",
    discussion: """
      The event has the type snapshot.test. It is signed and sent like all others, but only once. The exit code is 1 if \
      the receiver does not accept it.
      """)

  @OptionGroup var webhook: WebhookArgument

  @Flag(help: "Print the result as JSON.")
  var json = false

  @OptionGroup var options: ServerOptions

  func run() async throws {
    let result = try await options.client().naming(webhook.name) { try await $0.testWebhook(webhook.name) }
    if json { Console.print(json: result) }
    guard result.isAccepted else {
      throw CommandFailure("\(webhook.name) did not accept the event: \(result.answer).")
    }
    if !json { Console.print(Console.escaped("\(webhook.name) accepted the event: \(result.answer)")) }
  }
}
