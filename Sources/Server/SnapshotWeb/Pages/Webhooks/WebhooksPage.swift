import Webhooks

/// The page `/webhooks`: what became of the events for other services, for administrators.
struct WebhooksPage: Sendable {
  /// In the order of the settings.
  var webhooks: [(endpoint: WebhookEndpoint, state: WebhookEndpointState)]
}

extension WebhooksPage: Page {
  var template: PageTemplates.Name { .webhooks }
  var title: String { "Webhooks" }

  func fields(in _: PageFrame) -> Fields {
    var budget = PageBudget()
    let rows = webhooks.map { endpoint, state -> Fields in
      let numbers = [
        (state.waiting, "waiting"), (state.delivered, "delivered"), (state.failed, "failed"),
        (state.dropped, "dropped"),
      ]
      return [
        "name": budget.name(endpoint.name, most: 300),
        "isDisabled": state.isDisabled,
        "events": numbers.map { "\(Measures.number($0.0)) \($0.1)" }.joined(separator: ", "),
        "problem": state.problem.map { budget.name($0, most: 600) },
      ]
    }
    return ["rows": rows, "hasRows": !rows.isEmpty]
  }
}
