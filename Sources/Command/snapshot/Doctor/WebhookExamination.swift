import Foundation
import HTTPTLS
import HTTPClient
import SnapshotClient
import SnapshotServer
import SystemIO
import Webhooks

/// Examines what became of the events for webhooks. Only the server knows.
struct WebhookExamination {
  private static let topic = "webhooks"

  let settings: ServerSettings
  /// The pin of the server's own certificate; `nil` without HTTPS.
  var pin: KeyPin?
  /// An access token with the scope `admin`; `nil` if there is none.
  var token: String?

  /// Asks the server that listens at the address in the settings. Returns nothing without webhooks.
  func run() async -> [Finding] {
    guard settings.webhooks.isEnabled, let address = settings.localAddress,
      let url = URL(string: "\(settings.tls.isEnabled ? "https" : "http")://\(address)")
    else { return [] }
    do {
      var configuration = SnapshotAPIClient.Configuration()
      configuration.retries.attempts = 1
      configuration.timeouts.total = 15
      // The token stays on this machine.
      configuration.allowsInsecureToken = true
      let client = try SnapshotAPIClient(
        server: url, token: token,
        transport: SnapshotAPIClient.makeDefaultTransport(trust: ServerTrust(local: pin)),
        configuration: configuration)
      return try await client.webhooks().map(Self.finding)
    } catch {
      switch error.code {
      // The examination of the server says so.
      case .connectionFailed, .untrustedServer, .timedOut: return []
      case .unauthorized, .forbidden:
        return [
          .warning(
            Self.topic, "The webhooks were not examined: the server requires a token with the scope admin.",
            mend: "Pass it in the environment variable SNAPSHOT_TOKEN.")
        ]
      default:
        return [
          .warning(Self.topic, "The webhooks can't be examined: \(error)", mend: "See the server's log.")
        ]
      }
    }
  }

  private static func finding(_ webhook: SnapshotAPIClient.Webhook) -> Finding {
    let name = webhook.name
    if webhook.isDisabled {
      return .error(
        topic, "The webhook \(name) answered 410, and gets no events.",
        mend: "Correct the receiver, and run `snapshot webhooks redeliver \(name)`.")
    }
    if let problem = webhook.problem {
      return .warning(
        topic,
        "The last try for the webhook \(name) failed: \(problem). Events that wait: \(webhook.waiting).",
        mend: "Correct the receiver, and run `snapshot webhooks test \(name)`.")
    }
    let lost = webhook.failed + webhook.dropped
    guard lost > 0 else {
      return .ok(topic, "The webhook \(name) gets its events: \(webhook.delivered) so far.")
    }
    return .warning(
      topic, "The webhook \(name) did not get \(Console.count(lost, "event")), and gets events now.",
      mend: "`snapshot webhooks redeliver \(name)` sends those of the last seven days.")
  }
}
