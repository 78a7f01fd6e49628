import Synchronization

/// A token bucket: counts the used part of an ``Allowance``. It starts full, and refills evenly over the allowance's
/// period.
struct TokenBucket: Sendable {
  /// The result of taking an amount.
  struct Verdict: Sendable, Hashable {
    let allowance: Allowance
    let isAllowed: Bool
    /// The remaining amount.
    let remaining: Int
    /// The number of seconds until the bucket is full.
    let secondsUntilFull: Int
    /// The number of seconds until the wanted amount is available; 0 if it was.
    let secondsUntilEnough: Int
  }

  let allowance: Allowance
  private var level: Double
  private var time: Duration

  /// Creates a full bucket.
  init(_ allowance: Allowance, at now: Duration) {
    self.allowance = allowance
    level = Double(allowance.amount)
    time = now
  }

  /// Takes `amount`, or nothing if less is available.
  mutating func take(_ amount: Int = 1, at now: Duration) -> Verdict {
    fill(until: now)
    let isAllowed = level >= Double(amount)
    if isAllowed { level -= Double(amount) }
    return verdict(isAllowed, wanted: amount)
  }

  /// Returns the result that taking `amount` would have.
  func look(for amount: Int, at now: Duration) -> Verdict {
    var later = self
    later.fill(until: now)
    return later.verdict(later.level >= Double(amount), wanted: amount)
  }

  /// Whether the bucket is full, so that it equals a new one.
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

  /// Rounds up.
  private func seconds(until wanted: Double) -> Int {
    Int((max(0, wanted - level) / Double(allowance.amount) * Double(allowance.seconds)).rounded(.up))
  }
}

/// An amount per period, for a ``TokenBucket``.
struct Allowance: Sendable, Hashable {
  let amount: Int
  let seconds: Int
}

extension RateLimit {
  var allowance: Allowance { Allowance(amount: count, seconds: seconds) }
}

extension UploadQuota {
  var allowance: Allowance { Allowance(amount: bytes, seconds: seconds) }
}

/// A ``TokenBucket`` for each key, in bounded memory. When there is no space, full buckets are removed first, then the
/// least recently used ones.
final class BucketTable<Key: Hashable & Sendable>: Sendable {
  private struct Entry: Sendable {
    var bucket: TokenBucket
    var lastUse: Duration
  }

  private let capacity: Int
  private let entries = Mutex<[Key: Entry]>([:])

  /// Creates a table for at most `capacity` buckets, at least 1.
  init(capacity: Int) { self.capacity = max(capacity, 1) }

  /// The number of buckets in the table.
  var count: Int { entries.withLock(\.count) }

  /// Returns the result that taking `amount` from the bucket of `key` would have.
  func look(_ key: Key, _ allowance: Allowance, for amount: Int, at now: Duration) -> TokenBucket.Verdict {
    entries.withLock { Self.bucket(of: key, allowance, in: $0, at: now).look(for: amount, at: now) }
  }

  /// Takes `amount` from the bucket of `key`. The bucket is a new, full one if there is none or its allowance has
  /// changed.
  func take(
    _ key: Key, _ allowance: Allowance, _ amount: Int = 1, at now: Duration
  ) -> TokenBucket.Verdict {
    entries.withLock { entries in
      if entries[key] == nil, entries.count >= capacity { makeRoom(in: &entries, at: now) }
      var entry = Entry(bucket: Self.bucket(of: key, allowance, in: entries, at: now), lastUse: now)
      let verdict = entry.bucket.take(amount, at: now)
      entries[key] = entry
      return verdict
    }
  }

  private static func bucket(
    of key: Key, _ allowance: Allowance, in entries: [Key: Entry], at now: Duration
  ) -> TokenBucket {
    guard let known = entries[key]?.bucket, known.allowance == allowance else {
      return TokenBucket(allowance, at: now)
    }
    return known
  }

  /// Removes an eighth of the buckets at once, so that with a flood of new keys not every call sorts all buckets.
  private func makeRoom(in entries: inout [Key: Entry], at now: Duration) {
    entries = entries.filter { !$0.value.bucket.isFull(at: now) }
    let excess = entries.count - (capacity - max(capacity / 8, 1))
    guard excess > 0 else { return }
    for (key, _) in entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }).prefix(excess) {
      entries[key] = nil
    }
  }
}
