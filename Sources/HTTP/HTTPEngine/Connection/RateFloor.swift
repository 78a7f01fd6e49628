/// Judges whether a sender is too slow, counting only the time for which it is waited for.
///
/// A value without a clock: times are milliseconds on the caller's.
struct RateFloor {
  private let bytesPerSecond: Int64
  private let window: UInt64
  /// How long the current period lasts, and whether its rate counts.
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

  /// Bytes have come.
  mutating func count(_ more: Int) { bytes += Int64(more) }

  /// The sender is waited for from `now` on.
  mutating func resume(at now: UInt64) {
    if waitingSince == nil { waitingSince = now }
  }

  /// Nobody waits for the sender any more.
  mutating func pause(at now: UInt64) {
    if let waitingSince { waited += now - waitingSince }
    waitingSince = nil
  }

  /// When to ``isTooSlow(at:)`` next; `nil` while nobody waits.
  var deadline: UInt64? { waitingSince.map { $0 + period - min(waited, period) } }

  /// Judges the period that ends `now` and begins the next one.
  mutating func isTooSlow(at now: UInt64) -> Bool {
    pause(at: now)
    defer { resume(at: now) }
    guard waited >= period else { return false }
    let isTooSlow = !isGrace && bytes * 1000 < bytesPerSecond * Int64(clamping: period)
    (period, isGrace, waited, bytes) = (window, false, 0, 0)
    return isTooSlow
  }
}
