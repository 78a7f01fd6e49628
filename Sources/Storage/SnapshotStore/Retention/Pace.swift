/// Holds a flow of bytes to a rate: says how long to wait before the next ones.
///
/// What was slower for a while is not caught up with: there is never a burst of more than one piece.
struct Pace: Sendable {
  private let bytesPerSecond: Int64
  /// When the bytes so far may have passed.
  private var due: Duration = .zero

  /// - Parameter bytesPerSecond: the rate, at least 1.
  init(bytesPerSecond: Int64) { self.bytesPerSecond = max(bytesPerSecond, 1) }

  /// How many bytes to take at once: about a tenth of a second's, from 4 KB to 256 KB.
  var pieceSize: Int { Int(min(max(bytesPerSecond / 10, 4 << 10), 256 << 10)) }

  /// How long to wait after `count` bytes have passed by `time`, which never goes back.
  mutating func delay(after count: Int, at time: Duration) -> Duration {
    let cost = Duration.seconds(Double(count) / Double(bytesPerSecond))
    due = max(due, time - cost) + cost
    return max(due - time, .zero)
  }
}
