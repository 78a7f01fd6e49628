import ArgumentParser
import SnapshotClient

struct WebhooksRedeliverCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "redeliver",
    abstract: "Sends the events again that a webhook did not get.",
    discussion: """
      These are the events that failed or were dropped in the last seven days. With --event, it is one event, also if it \
      was delivered. A webhook that was disabled because it answered 410 gets events again.
      """)

  @OptionGroup var webhook: WebhookArgument

  @Option(help: ArgumentHelp("The id of one event.", valueName: "id"))
  var event: String?

  @Flag(help: "Print the number of events as JSON.")
  var json = false

  @OptionGroup var options: ServerOptions

  func run() async throws {
    let count = try await options.client().naming(webhook.name) {
      try await $0.redeliver(event, to: webhook.name)
    }
    if json { Console.print(json: ["count": count]) }
    if let event, count == 0 {
      throw CommandFailure(
        "\(event) is not sent again: it is waiting or not known, or too many events wait for \(webhook.name)."
      )
    }
    if !json { Console.print("\(Console.count(count, "event")) sent again") }
  }
}
