/// Counts what is used up of an ``Allowance``: it holds all of it at first, whatever is used goes out of it, and it
/// fills again evenly over the allowance's time.
struct TokenBucket: Sendable {
  /// What came of taking something out.
  struct Verdict: Sendable, Hashable {
    let allowance: Allowance
    let isAllowed: Bool
    /// How much is left.
    let remaining: Int
    /// Seconds until all of it is there again.
    let secondsUntilFull: Int
    /// Seconds until as much is there as was wanted; 0 where it is.
    let secondsUntilEnough: Int
  }

  let allowance: Allowance
  private var level: Double
  private var time: Duration

  /// A full one.
  init(_ allowance: Allowance, at now: Duration) {
    self.allowance = allowance
    level = Double(allowance.amount)
    time = now
  }

  /// Takes `amount` out, or nothing where there is less.
  mutating func take(_ amount: Int = 1, at now: Duration) -> Verdict {
    fill(until: now)
    let isAllowed = level >= Double(amount)
    if isAllowed { level -= Double(amount) }
    return verdict(isAllowed, wanted: amount)
  }

  /// What taking `amount` would come to.
  func look(for amount: Int, at now: Duration) -> Verdict {
    var later = self
    later.fill(until: now)
    return later.verdict(later.level >= Double(amount), wanted: amount)
  }

  /// Whether nothing is missing, so that it is as good as a new one.
  func isFull(at now: Duration) -> Bool { look(for: allowance.amount, at: now).isAllowed }

  private func verdict(_ isAllowed: Bool, wanted: Int) -> Verdict {
    Verdict(
      allowance: allowance, isAllowed: isAllowed, remaining: Int(level),
      secondsUntilFull: seconds(until: Double(allowance.amount)),
      secondsUntilEnough: isAllowed ? 0 : seconds(until: Double(wanted)))
  }

  private mutating func fill(until now: Duration) {
    guard now > time else { return }
    let gained = (now - time) / .seconds(allowance.seconds) * Double(allowance.amount)
    level = min(Double(allowance.amount), level + gained)
    time = now
  }

  /// Rounded up.
  private func seconds(until wanted: Double) -> Int {
    Int((max(0, wanted - level) / Double(allowance.amount) * Double(allowance.seconds)).rounded(.up))
  }
}
