/// Detects a client that receives a response too slowly: it must receive `writeProgressBytes` in every
/// `writeStallTime`.
///
/// Has no clock of its own: times are in milliseconds on the caller's clock. Received bytes are counted from any
/// starting point.
struct ProgressFloor {
  /// The last time at which the client had received enough, and the number of bytes received until then.
  private var since: UInt64 = 0
  private var taken: Int64 = 0

  /// Starts to wait for the client.
  mutating func begin(at now: UInt64, taken: Int64) { (since, self.taken) = (now, taken) }

  /// Returns the time of the next check, or `nil` if the client is too slow.
  mutating func deadline(at now: UInt64, taken: Int64, limits: HTTPLimits) -> UInt64? {
    if taken - self.taken >= Int64(limits.writeProgressBytes) { begin(at: now, taken: taken) }
    let time = limits.writeStallTime.milliseconds
    let end = since + time
    guard now < end else { return nil }
    // Checks more often than the limit requires. Otherwise a client that stops would be detected only after up to twice
    // the time.
    return min(end, now + max(time / 4, 1))
  }
}
