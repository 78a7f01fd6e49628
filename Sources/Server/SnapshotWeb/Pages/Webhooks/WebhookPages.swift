import AccessControl
import HTTPEngine
import HTTPTypes
import Observability
import SnapshotAPI
import Webhooks

/// The page about webhooks.
struct WebhookPages: Sendable {
  private let pages: PageMaker
  private let webhooks: Webhooks?

  init(_ pages: PageMaker, _ webhooks: Webhooks?) {
    self.pages = pages
    self.webhooks = webhooks
  }

  /// All endpoints.
  var endpoints: [Endpoint] {
    [.page(.listWebhooks, .get, "/webhooks", .admin, handler: show)]
  }

  private func show(_ call: PageCall) async throws -> HTTPServerResponse {
    _ = try call.query([])
    try call.caller.requireUnlimited()
    guard let webhooks else { throw HTTPProblem.noSuchPath() }
    let page = WebhooksPage(webhooks: try await webhooks.states())
    return try await pages.render(page, for: call.visitor)
  }
}
