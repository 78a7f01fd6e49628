import SystemIO

/// Counts the open connections of all event loops: in total, and per client. For clients behind trusted proxies, counts
/// requests instead of connections.
final class ConnectionBudget: Sendable {
  fileprivate struct Counts {
    var connections = 0
    var byClient: [IPAddress: Int] = [:]
    var limit: Int
    var limitPerClient: Int
  }

  private let counts: Lock<Counts>

  init(limits: HTTPLimits) {
    counts = Lock(Counts(limit: limits.connections, limitPerClient: limits.connectionsPerAddress))
  }

  /// Applies other limits to new connections and requests.
  func change(_ limits: HTTPLimits) {
    counts.withLock { counts in
      counts.limit = limits.connections
      counts.limitPerClient = limits.connectionsPerAddress
    }
  }

  /// The number of open connections.
  var connections: Int { counts.withLock { $0.connections } }

  /// Counts a new connection from `client`. Returns `false` if a limit is reached. `client` is `nil` for a trusted
  /// proxy, whose connections carry the requests of many clients and have no limit per client.
  func admit(_ client: IPAddress?) -> Bool {
    counts.withLock { counts in
      guard counts.connections < counts.limit, client.map(counts.hasRoom(for:)) ?? true else { return false }
      counts.connections += 1
      if let client { counts.add(client) }
      return true
    }
  }

  /// Removes a connection that was admitted.
  func leave(_ client: IPAddress?) {
    counts.withLock { counts in
      counts.connections -= 1
      if let client { counts.remove(client) }
    }
  }

  /// Counts a new request, or connection, that a trusted proxy forwards for `client`. Returns `false` if the client's
  /// limit is reached.
  func admitRequest(of client: IPAddress) -> Bool {
    counts.withLock { counts in
      guard counts.hasRoom(for: client) else { return false }
      counts.add(client)
      return true
    }
  }

  /// Removes a request that was admitted.
  func endRequest(of client: IPAddress) { counts.withLock { $0.remove(client) } }
}

extension ConnectionBudget.Counts {
  fileprivate func hasRoom(for client: IPAddress) -> Bool { byClient[client, default: 0] < limitPerClient }

  fileprivate mutating func add(_ client: IPAddress) { byClient[client, default: 0] += 1 }

  fileprivate mutating func remove(_ client: IPAddress) {
    guard let count = byClient[client] else { return }
    byClient[client] = count > 1 ? count - 1 : nil
  }
}
