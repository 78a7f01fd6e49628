import ArgumentParser
import SnapshotClient
import SnapshotFormat

struct WebhooksListCommand: AsyncParsableCommand {
  /// The numbers of deliveries in one response of the server.
  private static let limits = 1...1000

  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists the webhooks with what became of their events, or the deliveries to one, newest first.")

  @Argument(
    help: ArgumentHelp("The webhook whose deliveries to list (default: all webhooks).", valueName: "webhook"))
  var name: String?

  @Option(help: ArgumentHelp("The most deliveries, up to 1000 (default: 100).", valueName: "number"))
  var limit: Int?

  @Flag(help: "Print one JSON array.")
  var json = false

  @OptionGroup var options: ServerOptions

  func validate() throws {
    guard limit == nil || name != nil else { throw ValidationError("--limit requires a webhook.") }
    guard limit.map(Self.limits.contains) ?? true else {
      throw ValidationError("--limit must be a number from 1 to 1000.")
    }
  }

  func run() async throws {
    let client = try options.client()
    if let name {
      let deliveries = try await client.naming(name) {
        try await $0.deliveries(to: name, limit: limit ?? 100)
      }
      if json { return Console.print(json: deliveries) }
      if deliveries.isEmpty { Console.message("No event is known for \(Console.escaped(name)).") }
      for delivery in deliveries { Console.print(Console.escaped(Self.line(delivery))) }
    } else {
      let webhooks = try await client.webhooks()
      if json { return Console.print(json: webhooks) }
      if webhooks.isEmpty { Console.message("The settings of the server have no webhooks.") }
      for webhook in webhooks { Console.print(Console.escaped(Self.line(webhook))) }
    }
  }

  private static func line(_ webhook: SnapshotAPIClient.Webhook) -> String {
    var parts = [
      webhook.name, webhook.isDisabled ? "disabled" : "enabled", "\(webhook.waiting) waiting",
      "\(webhook.delivered) delivered", "\(webhook.failed) failed", "\(webhook.dropped) dropped",
    ]
    if let problem = webhook.problem { parts.append("last try: \(problem)") }
    return parts.joined(separator: "  ")
  }

  private static func line(_ delivery: SnapshotAPIClient.WebhookDelivery) -> String {
    let tries = "\(delivery.tries) \(delivery.tries == 1 ? "try" : "tries")"
    var parts = [delivery.event, delivery.state, tries]
    if let due = delivery.dueAt { parts.append("due \(SnapshotJSON.text(of: due))") }
    if let end = delivery.endedAt { parts.append(SnapshotJSON.text(of: end)) }
    return parts.joined(separator: "  ")
  }
}
