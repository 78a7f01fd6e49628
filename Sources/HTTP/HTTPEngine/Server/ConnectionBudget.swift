import Synchronization
import SystemIO

/// Counts what is open over all event loops: connections in all, and per client its connections or, where trusted
/// proxies bring them, its requests.
final class ConnectionBudget: Sendable {
  fileprivate struct Counts {
    var connections = 0
    var byClient: [IPAddress: Int] = [:]
  }

  private let limit: Int
  private let limitPerClient: Int
  private let counts = Mutex(Counts())

  init(limits: HTTPLimits) {
    limit = limits.connections
    limitPerClient = limits.connectionsPerAddress
  }

  /// How many connections are open.
  var connections: Int { counts.withLock { $0.connections } }

  /// Counts one more connection from `client`, unless a limit is reached. A trusted proxy, whose connections are
  /// those of many clients, is `nil`: it has no limit of its own.
  func admit(_ client: IPAddress?) -> Bool {
    counts.withLock { counts in
      guard counts.connections < limit, client.map({ counts.hasRoom(for: $0, limitPerClient) }) ?? true else {
        return false
      }
      counts.connections += 1
      if let client { counts.add(client) }
      return true
    }
  }

  /// A connection that was admitted is closed.
  func leave(_ client: IPAddress?) {
    counts.withLock { counts in
      counts.connections -= 1
      if let client { counts.remove(client) }
    }
  }

  /// Counts one more request that a trusted proxy brings from `client`, unless the client's limit is reached.
  func admitRequest(of client: IPAddress) -> Bool {
    counts.withLock { counts in
      guard counts.hasRoom(for: client, limitPerClient) else { return false }
      counts.add(client)
      return true
    }
  }

  /// A request that was admitted is over.
  func endRequest(of client: IPAddress) { counts.withLock { $0.remove(client) } }
}

extension ConnectionBudget.Counts {
  fileprivate func hasRoom(for client: IPAddress, _ limit: Int) -> Bool {
    byClient[client, default: 0] < limit
  }

  fileprivate mutating func add(_ client: IPAddress) { byClient[client, default: 0] += 1 }

  fileprivate mutating func remove(_ client: IPAddress) {
    guard let count = byClient[client] else { return }
    byClient[client] = count > 1 ? count - 1 : nil
  }
}
