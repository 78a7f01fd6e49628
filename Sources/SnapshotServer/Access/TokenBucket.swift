/// Counts requests against a limit: it holds as many as the limit allows, each request takes one out, and it fills
/// again evenly over the limit's time.
struct TokenBucket: Sendable {
  /// What came of taking one out.
  struct Verdict: Sendable, Hashable {
    let limit: RateLimit
    let isAllowed: Bool
    /// How many requests are left.
    let remaining: Int
    /// Seconds until all are there again.
    let secondsUntilFull: Int
    /// Seconds until the next one is there; 0 where it is.
    let secondsUntilNext: Int
  }

  private let limit: RateLimit
  private var level: Double
  private var time: Duration

  /// A full one.
  init(_ limit: RateLimit, at now: Duration) {
    self.limit = limit
    level = Double(limit.count)
    time = now
  }

  /// Takes one out, if there is one.
  mutating func take(at now: Duration) -> Verdict {
    fill(until: now)
    let isAllowed = level >= 1
    if isAllowed { level -= 1 }
    return Verdict(
      limit: limit, isAllowed: isAllowed, remaining: Int(level),
      secondsUntilFull: seconds(until: Double(limit.count)), secondsUntilNext: seconds(until: 1))
  }

  /// Whether nothing is missing, so that it is as good as a new one.
  func isFull(at now: Duration) -> Bool {
    var later = self
    later.fill(until: now)
    return later.level >= Double(limit.count)
  }

  /// Whether it counts against `limit`.
  func counts(against other: RateLimit) -> Bool { limit == other }

  private mutating func fill(until now: Duration) {
    guard now > time else { return }
    let gained = (now - time) / .seconds(limit.seconds) * Double(limit.count)
    level = min(Double(limit.count), level + gained)
    time = now
  }

  /// Rounded up.
  private func seconds(until wanted: Double) -> Int {
    Int((max(0, wanted - level) / Double(limit.count) * Double(limit.seconds)).rounded(.up))
  }
}
