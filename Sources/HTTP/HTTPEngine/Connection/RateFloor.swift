/// Detects a client that sends a body too slowly. Only the time in which the server waits for the client counts.
///
/// Has no clock of its own: times are in milliseconds on the caller's clock.
struct RateFloor {
  private let bytesPerSecond: Int64
  private let window: UInt64
  /// The length of the current period, and whether it is the grace period, in which the rate is not checked.
  private var period: UInt64
  private var isGrace = true
  private var waited: UInt64 = 0
  private var waitingSince: UInt64?
  private var bytes: Int64 = 0

  init(limits: HTTPLimits) {
    bytesPerSecond = limits.bodyBytesPerSecond
    window = limits.bodyWindow.milliseconds
    period = limits.bodyGrace.milliseconds
  }

  /// Counts received bytes.
  mutating func count(_ more: Int) { bytes += Int64(more) }

  /// Starts to wait for the client.
  mutating func resume(at now: UInt64) {
    if waitingSince == nil { waitingSince = now }
  }

  /// Stops waiting for the client.
  mutating func pause(at now: UInt64) {
    if let waitingSince { waited += now - waitingSince }
    waitingSince = nil
  }

  /// When to call ``isTooSlow(at:)`` next; `nil` while not waiting.
  var deadline: UInt64? { waitingSince.map { $0 + period - min(waited, period) } }

  /// Checks the period that ends at `now`, and starts the next one.
  mutating func isTooSlow(at now: UInt64) -> Bool {
    pause(at: now)
    defer { resume(at: now) }
    guard waited >= period else { return false }
    let isTooSlow = !isGrace && bytes * 1000 < bytesPerSecond * Int64(clamping: period)
    (period, isGrace, waited, bytes) = (window, false, 0, 0)
    return isTooSlow
  }
}
