/// How many bytes go out in one request: as many as the line carries in the time that a piece is to take, within what
/// server and proxies take.
struct PieceSize: Sendable {
  /// Whatever a proxy is set to, it mostly takes this much.
  private static let first: Int64 = 1024 * 1024
  private static let least: Int64 = 64 * 1024
  private static let most: Int64 = 16 * 1024 * 1024

  /// The bytes of the next piece, unless fewer are left.
  private(set) var bytes = first
  private let seconds: Double
  private var ceiling: Int64
  private var floor = least

  init(_ policy: ResumptionPolicy) {
    seconds = policy.pieceSeconds
    ceiling = min(Self.most, max(1, policy.maximumRequestBody ?? .max))
    clamp()
  }

  /// Keeps within what the server takes; of two limits that exclude each other the upper one counts.
  mutating func keep(atLeast floor: Int64?, atMost ceiling: Int64?) {
    if let ceiling, ceiling > 0 { self.ceiling = min(self.ceiling, ceiling) }
    if let floor { self.floor = max(self.floor, floor) }
    clamp()
  }

  /// Learns from a piece of `count` bytes that arrived after so many seconds.
  mutating func arrived(_ count: Int64, after elapsed: Double) {
    if elapsed > seconds * 2 {
      bytes /= 2
    } else if elapsed < seconds / 2, count >= bytes {
      bytes *= 2
    }
    clamp()
  }

  /// Learns from a piece that did not arrive whole.
  mutating func broke() {
    bytes /= 2
    clamp()
  }

  /// Learns from a piece of `count` bytes that something on the way does not take.
  /// - Returns: whether a smaller one is worth trying.
  mutating func refused(_ count: Int64) -> Bool {
    let half = count / 2
    guard half >= floor else { return false }
    ceiling = min(ceiling, half)
    clamp()
    return true
  }

  private mutating func clamp() { bytes = min(max(bytes, floor), ceiling) }
}
