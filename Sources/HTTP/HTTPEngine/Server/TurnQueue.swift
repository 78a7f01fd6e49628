/// The connections that could continue, but let others continue first: with pipelined requests, or with sending. Not
/// thread-safe: owned by its event loop.
struct TurnQueue {
  /// The number of bytes that can still be sent in this round, except for small responses. Limits the time for which
  /// any number of downloads can delay other connections.
  var sendingLeft = 0
  private static let sendingPerRound = 1 << 20

  private var parsers: [Connection] = []
  private var senders: [Connection] = []

  /// Whether connections are waiting to send. Further ones queue up behind them.
  var hasSenders: Bool { !senders.isEmpty }

  /// Whether no connection is waiting. Otherwise the next round must not wait for the poller.
  var isEmpty: Bool { parsers.isEmpty && senders.isEmpty }

  /// Adds a connection with pipelined requests.
  mutating func append(parser connection: Connection) { parsers.append(connection) }

  /// Adds a connection with output to send.
  mutating func append(sender connection: Connection) { senders.append(connection) }

  /// Starts a round. Returns the connections that continue with their requests at the end of the round, after those
  /// with new events.
  mutating func beginRound() -> [Connection] {
    sendingLeft = Self.sendingPerRound
    defer { parsers = [] }
    return parsers
  }

  /// The number of senders that continue in this round. Connections added meanwhile continue in the next round.
  var sendersInRound: Int { senders.count }

  /// Returns the sender at `index`, or `nil` if the round has sent enough.
  func sender(_ index: Int) -> Connection? { sendingLeft > 0 ? senders[index] : nil }

  /// Removes the first `count` senders after their turn.
  mutating func removeSenders(_ count: Int) { senders.removeFirst(count) }
}
