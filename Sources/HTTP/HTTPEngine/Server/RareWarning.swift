/// Lets at most one warning a minute into the log, so that clients can't fill it.
struct RareWarning {
  /// The shortest time between two warnings, in milliseconds.
  static let interval: UInt64 = 60_000

  private var next: UInt64 = 0
  private var omitted = 0

  /// Counts a warning at the time `now`, in milliseconds. Returns the number of those that were left out since the last
  /// one; `nil` if this one is left out too.
  mutating func admit(at now: UInt64) -> Int? {
    guard now >= next else {
      omitted += 1
      return nil
    }
    defer { (next, omitted) = (now + Self.interval, 0) }
    return omitted
  }
}
