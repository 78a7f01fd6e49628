import ArgumentParser
import Observability
import SnapshotClient

struct WebhooksCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "webhooks",
    abstract: "Lists and tests the webhooks of a server, and sends their events again.",
    discussion: """
      Needs a token with the scope admin. A webhook is named by its host and some digits, as `snapshot webhooks list` \
      prints it, because its URL can be a secret.
      """,
    subcommands: [WebhooksListCommand.self, WebhooksTestCommand.self, WebhooksRedeliverCommand.self])
}

/// The webhook that a command works on.
struct WebhookArgument: ParsableArguments {
  @Argument(help: ArgumentHelp("The webhook, as `snapshot webhooks list` names it.", valueName: "webhook"))
  var name: String
}

extension SnapshotAPIClient {
  /// Calls `body`, and describes the failure if the server has no webhook `name`.
  func naming<Value>(
    _ name: String, _ body: (SnapshotAPIClient) async throws -> Value
  ) async throws -> Value {
    do { return try await body(self) } catch let error as SnapshotClientError {
      guard error.problem?.type == ProblemKind.noSuchWebhook.type else { throw error }
      throw CommandFailure(
        "The settings of the server have no webhook \(name); `snapshot webhooks list` names all.",
        status: .refused)
    }
  }
}
