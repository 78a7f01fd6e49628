import Synchronization
import SystemIO

/// Counts open connections over all event loops, in all and per client.
final class ConnectionBudget: Sendable {
  private struct Counts {
    var all = 0
    var byClient: [IPAddress: Int] = [:]
  }

  private let limit: Int
  private let limitPerClient: Int
  private let counts = Mutex(Counts())

  init(limits: HTTPLimits) {
    limit = limits.connections
    limitPerClient = limits.connectionsPerAddress
  }

  /// Counts one more connection from `client`, unless a limit is reached.
  func admit(_ client: IPAddress) -> Bool {
    counts.withLock { counts in
      guard counts.all < limit, counts.byClient[client, default: 0] < limitPerClient else { return false }
      counts.all += 1
      counts.byClient[client, default: 0] += 1
      return true
    }
  }

  /// A connection from `client` that was admitted is closed.
  func leave(_ client: IPAddress) {
    counts.withLock { counts in
      counts.all -= 1
      guard let count = counts.byClient[client] else { return }
      counts.byClient[client] = count > 1 ? count - 1 : nil
    }
  }
}
