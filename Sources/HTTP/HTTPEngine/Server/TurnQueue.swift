/// The connections that could continue, but let others continue first: with pipelined requests, or with sending. Not
/// thread-safe: owned by its event loop.
struct TurnQueue {
  /// The number of bytes that can still be sent in this round, except for small responses. Limits the time for which
  /// any number of downloads can delay other connections.
  var sendingLeft = 0
  private static let sendingPerRound = 1 << 20

  private var parsers: [Connection] = []
  private var senders: [Connection] = []
  private var readers: [Connection] = []
  private var handshakers: [Connection] = []

  /// The time in nanoseconds that handshakes can still take in this round. Limits the time for which any number of new
  /// connections can delay others.
  var handshakeTimeLeft: Int64 = 0
  private static let handshakeTimePerRound: Int64 = 2_000_000

  /// Whether connections are waiting to send. Further ones queue up behind them.
  var hasSenders: Bool { !senders.isEmpty }

  /// Whether no connection is waiting. Otherwise the next round must not wait for the poller.
  var isEmpty: Bool { parsers.isEmpty && senders.isEmpty && readers.isEmpty && handshakers.isEmpty }

  /// Adds a connection with pipelined requests.
  mutating func append(parser connection: Connection) { parsers.append(connection) }

  /// Adds a connection with output to send.
  mutating func append(sender connection: Connection) { senders.append(connection) }

  /// Adds a connection whose session holds bytes.
  mutating func append(reader connection: Connection) { readers.append(connection) }

  /// Adds a connection whose handshake continues.
  mutating func append(handshaker connection: Connection) { handshakers.append(connection) }

  /// Starts a round. Returns the connections that continue with their requests at the end of the round, after those
  /// with new events.
  mutating func beginRound() -> [Connection] {
    sendingLeft = Self.sendingPerRound
    handshakeTimeLeft = Self.handshakeTimePerRound
    defer { parsers = [] }
    return parsers
  }

  /// The number of senders that continue in this round. Connections added meanwhile continue in the next round.
  var sendersInRound: Int { senders.count }

  /// Returns the sender at `index`, or `nil` if the round has sent enough.
  func sender(_ index: Int) -> Connection? { sendingLeft > 0 ? senders[index] : nil }

  /// Removes the first `count` senders after their turn.
  mutating func removeSenders(_ count: Int) { senders.removeFirst(count) }

  /// Removes and returns the connections whose sessions hold bytes. Those added meanwhile continue in the next round.
  mutating func takeReaders() -> [Connection] {
    guard !readers.isEmpty else { return [] }
    defer { readers = [] }
    return readers
  }

  /// Whether a handshake can continue at once. Otherwise it waits for its turn after the others.
  var allowsHandshake: Bool { handshakers.isEmpty && handshakeTimeLeft > 0 }

  /// The number of handshakes that can continue in this round.
  var handshakersInRound: Int { handshakers.count }

  /// Returns the connection at `index`, or `nil` if the handshakes of this round took enough time.
  func handshaker(_ index: Int) -> Connection? { handshakeTimeLeft > 0 ? handshakers[index] : nil }

  /// Removes the first `count` connections after their turn.
  mutating func removeHandshakers(_ count: Int) { handshakers.removeFirst(count) }
}
