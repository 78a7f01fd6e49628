/// A thousand slow clients of each kind, which stay connected as long as this object exists.
///
/// Each client acts once per second, and the clients are distributed evenly over the second. They act in the
/// generator's loop between two polls for responses, so that no other thread competes for the generator's core.
final class SlowCrowd {
  static let clientsOfAKind = 1000

  /// The number of actions of each kind since the last ``begin(at:)``.
  private(set) var actions: [SlowClient.Kind: Int] = [:]
  private let kinds: [SlowClient.Kind]
  private let clients: [SlowClient]
  /// The time between the actions of two clients, in nanoseconds.
  private let pause: UInt64
  private var next = 0
  private var due: UInt64 = 0
  private var began: UInt64 = 0

  /// Connects all clients.
  /// - Parameters:
  ///   - upload: creates a new request whose body is never completed.
  ///   - download: a request for a large file.
  init(
    _ kinds: [SlowClient.Kind], port: UInt16, upload: @escaping () -> Exchange, download: Exchange
  ) {
    self.kinds = kinds
    // Interleaves the kinds.
    clients = (0..<Self.clientsOfAKind).flatMap { number in
      kinds.map { SlowClient($0, number, port: port, upload: upload, download: download) }
    }
    pause = 1_000_000_000 / UInt64(max(clients.count, 1))
    for client in clients { client.begin() }
  }

  /// Starts the actions at the time `now`.
  func begin(at now: UInt64) {
    (began, due, actions) = (now, now, [:])
  }

  /// Lets the clients act that are due, but only a few, so that responses are not delayed.
  func act(at now: UInt64) {
    for _ in 0..<2 where due <= now {
      let client = clients[next]
      client.act()
      actions[client.kind, default: 0] += 1
      next = (next + 1) % clients.count
      due += pause
    }
  }

  /// How long the generator can wait for responses until the next action is due, in milliseconds.
  func patience(at now: UInt64) -> Int32 { due <= now ? 0 : 1 }

  /// The share of the expected actions until `now` that was carried out, for the kind with the smallest share.
  func diligence(at now: UInt64) -> Double {
    let expected = Double(now - began) / 1e9 * Double(Self.clientsOfAKind)
    return kinds.map { Double(actions[$0] ?? 0) / expected }.min() ?? 1
  }

  /// The numbers of actions, connections and refused connections of each kind.
  var summary: String {
    kinds.map { kind in
      let own = clients.filter { $0.kind == kind }
      let (begun, refused) = (own.reduce(0) { $0 + $1.begun }, own.reduce(0) { $0 + $1.refused })
      return "\(kind) acted \(actions[kind] ?? 0) times (\(begun) connections, \(refused) refused)"
    }.joined(separator: ", ")
  }
}
