/// A webhook with what became of its events, for the page about webhooks.
package struct WebhookSummary: Sendable, Hashable {
  /// The host and some digits: the URL can be a secret.
  package var name: String
  package var waiting: Int
  package var delivered: Int
  package var failed: Int
  package var dropped: Int
  /// Whether the receiver wants no more events.
  package var isDisabled: Bool
  /// Why the last try failed; `nil` if it did not.
  package var problem: String?

  /// Creates a summary.
  package init(
    name: String, waiting: Int, delivered: Int, failed: Int, dropped: Int, isDisabled: Bool, problem: String?
  ) {
    self.name = name
    (self.waiting, self.delivered, self.failed, self.dropped) = (waiting, delivered, failed, dropped)
    (self.isDisabled, self.problem) = (isDisabled, problem)
  }
}

/// The webhooks of a server.
package struct WebhookList: Sendable {
  /// Whether the settings have webhooks now.
  let isEnabled: @Sendable () -> Bool
  /// Reads the webhooks, in the order of the settings.
  let read: @Sendable () async throws -> [WebhookSummary]

  /// Creates a list.
  package init(
    isEnabled: @escaping @Sendable () -> Bool,
    read: @escaping @Sendable () async throws -> [WebhookSummary]
  ) {
    self.isEnabled = isEnabled
    self.read = read
  }
}

/// The page `/webhooks`: what became of the events for other services, for administrators.
struct WebhooksPage: Sendable {
  var webhooks: [WebhookSummary]
}

extension WebhooksPage: Page {
  var template: PageTemplates.Name { .webhooks }
  var title: String { "Webhooks" }

  func fields(in _: PageFrame) -> Fields {
    var budget = PageBudget()
    let rows = webhooks.map { webhook -> Fields in
      let numbers = [
        (webhook.waiting, "waiting"), (webhook.delivered, "delivered"), (webhook.failed, "failed"),
        (webhook.dropped, "dropped"),
      ]
      return [
        "name": budget.name(webhook.name, most: 300),
        "isDisabled": webhook.isDisabled,
        "events": numbers.map { "\(Measures.number($0.0)) \($0.1)" }.joined(separator: ", "),
        "problem": webhook.problem.map { budget.name($0, most: 600) },
      ]
    }
    return ["rows": rows, "hasRows": !rows.isEmpty]
  }
}
