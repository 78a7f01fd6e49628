/// Judges whether a client takes a response too slowly: in every `writeStallTime` it must take `writeProgressBytes`.
///
/// A value without a clock: times are milliseconds on the caller's, and the bytes taken are counted from any beginning.
struct ProgressFloor {
  /// When the client had last taken enough, and how much it had taken by then.
  private var since: UInt64 = 0
  private var taken: Int64 = 0

  /// The client is waited for from `now` on.
  mutating func begin(at now: UInt64, taken: Int64) { (since, self.taken) = (now, taken) }

  /// When to ask next; `nil` if the client is too slow.
  mutating func deadline(at now: UInt64, taken: Int64, limits: HTTPLimits) -> UInt64? {
    if taken - self.taken >= Int64(limits.writeProgressBytes) { begin(at: now, taken: taken) }
    let time = limits.writeStallTime.milliseconds
    let end = since + time
    guard now < end else { return nil }
    // Asked more often, so that a client that stops is seen soon after its time, not after twice of it.
    return min(end, now + max(time / 4, 1))
  }
}
