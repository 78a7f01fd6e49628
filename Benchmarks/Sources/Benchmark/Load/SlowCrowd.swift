/// Clients that hold a server up, a thousand of each kind at once, for as long as this lives.
///
/// Each does its worst once a second, one after the other, evenly over the second: in the generator's own loop, between
/// two looks at the answers, so that no other thread keeps the generator from its core.
final class SlowCrowd {
  static let clientsOfAKind = 1000

  /// How often each kind acted since the last ``begin(at:)``.
  private(set) var actions: [SlowClient.Kind: Int] = [:]
  private let kinds: [SlowClient.Kind]
  private let clients: [SlowClient]
  /// From one client's turn to the next one's, in nanoseconds.
  private let pause: UInt64
  private var next = 0
  private var due: UInt64 = 0
  private var began: UInt64 = 0

  /// Connects them all.
  /// - Parameters:
  ///   - upload: makes a request with a body that is never whole; each is a new one.
  ///   - download: a request for a large file.
  init(
    _ kinds: [SlowClient.Kind], port: UInt16, upload: @escaping () -> Exchange, download: Exchange
  ) {
    self.kinds = kinds
    // Kinds side by side.
    clients = (0..<Self.clientsOfAKind).flatMap { number in
      kinds.map { SlowClient($0, number, port: port, upload: upload, download: download) }
    }
    pause = 1_000_000_000 / UInt64(max(clients.count, 1))
    for client in clients { client.begin() }
  }

  /// They act from `now` on.
  func begin(at now: UInt64) {
    (began, due, actions) = (now, now, [:])
  }

  /// Has those act whose turn has come; but few at once, so that nobody's answer waits to be looked at.
  func act(at now: UInt64) {
    for _ in 0..<2 where due <= now {
      let client = clients[next]
      client.act()
      actions[client.kind, default: 0] += 1
      next = (next + 1) % clients.count
      due += pause
    }
  }

  /// How long the generator may wait for answers before the next one's turn, in milliseconds.
  func patience(at now: UInt64) -> Int32 { due <= now ? 0 : 1 }

  /// What part of what they were to do until `now` they have done, of the kind that did least.
  func diligence(at now: UInt64) -> Double {
    let expected = Double(now - began) / 1e9 * Double(Self.clientsOfAKind)
    return kinds.map { Double(actions[$0] ?? 0) / expected }.min() ?? 1
  }

  /// How often each kind acted, and how often it was let in, and the server let go of it.
  var summary: String {
    kinds.map { kind in
      let own = clients.filter { $0.kind == kind }
      let (begun, refused) = (own.reduce(0) { $0 + $1.begun }, own.reduce(0) { $0 + $1.refused })
      return "\(kind) acted \(actions[kind] ?? 0) times (\(begun) connections, \(refused) not let in)"
    }.joined(separator: ", ")
  }
}
