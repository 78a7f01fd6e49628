/// Connections that could go on and let others have their turn first: with their next requests, and with what they
/// have to send. Not thread-safe: its event loop owns it.
struct TurnQueue {
  /// How much may still be sent in this round, small responses apart, in bytes: downloads, however many, hold nobody
  /// else up for longer than that takes.
  var sendingLeft = 0
  private static let sendingPerRound = 1 << 20

  private var parsers: [Connection] = []
  private var senders: [Connection] = []

  /// Whether connections wait to send: others line up behind them.
  var hasSenders: Bool { !senders.isEmpty }

  /// Whether the next round has something to do without waiting for the poller.
  var isEmpty: Bool { parsers.isEmpty && senders.isEmpty }

  /// `connection` has requests that came ahead.
  mutating func append(parser connection: Connection) { parsers.append(connection) }

  /// `connection` has something to send.
  mutating func append(sender connection: Connection) { senders.append(connection) }

  /// A round begins: those that are to go on with their requests at its end, after whoever is ready now.
  mutating func beginRound() -> [Connection] {
    sendingLeft = Self.sendingPerRound
    defer { parsers = [] }
    return parsers
  }

  /// How many senders have their turn in this round; who lines up again meanwhile comes in the next.
  var sendersInRound: Int { senders.count }

  /// The sender that is `index` places behind the first; `nil` where the round has sent enough.
  func sender(_ index: Int) -> Connection? { sendingLeft > 0 ? senders[index] : nil }

  /// The first `count` senders had their turn.
  mutating func removeSenders(_ count: Int) { senders.removeFirst(count) }
}
