import SystemIO

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

  /// Sets the available amount, which can be negative.
  mutating func set(_ level: Double, at now: Duration) {
    self.level = min(level, Double(allowance.amount))
    time = now
  }

  /// Whether the bucket is full, so that it equals a new one.
  func isFull(at now: Duration) -> Bool { look(for: allowance.amount, at: now).isAllowed }

  private func verdict(_ isAllowed: Bool, wanted: Int) -> Verdict {
    Verdict(
      allowance: allowance, isAllowed: isAllowed, remaining: Int(max(level, 0)),
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
    /// What was taken since the last ``takeUses()``; `nil` if the bucket was not used.
    var unreported: Int?
  }

  /// What was taken from a bucket.
  struct Use: Sendable {
    let key: Key
    let allowance: Allowance
    let amount: Int
  }

  private let capacity: Int
  private let entries = Lock<[Key: Entry]>([:])

  /// Creates a table for at most `capacity` buckets, at least 1.
  init(capacity: Int) { self.capacity = max(capacity, 1) }

  /// The number of buckets in the table.
  var count: Int { entries.withLock(\.count) }

  /// Returns the result that taking `amount` from the bucket of `key` would have.
  func look(_ key: Key, _ allowance: Allowance, for amount: Int, at now: Duration) -> TokenBucket.Verdict {
    entries.withLock { Self.bucket(of: key, allowance, in: $0, at: now).look(for: amount, at: now) }
  }

  /// Returns what was taken since the last call, for each bucket from which something was wanted.
  func takeUses() -> [Use] {
    entries.withLock { entries in
      var uses: [Use] = []
      for (key, entry) in entries {
        guard let amount = entry.unreported else { continue }
        uses.append(Use(key: key, allowance: entry.bucket.allowance, amount: amount))
        entries[key]?.unreported = nil
      }
      return uses
    }
  }

  /// Sets the level of a bucket to `level`, which it had after `use`, minus the tokens that were taken since then.
  func set(_ level: Double, of use: Use, at now: Duration) {
    entries.withLock { entries in
      guard let entry = entries[use.key], entry.bucket.allowance == use.allowance else { return }
      entries[use.key]?.bucket.set(level - Double(entry.unreported ?? 0), at: now)
    }
  }

  /// Takes back the result of ``takeUses()``.
  func putBack(_ uses: [Use]) {
    entries.withLock { entries in
      for use in uses {
        guard let entry = entries[use.key], entry.bucket.allowance == use.allowance else { continue }
        entries[use.key]?.unreported = (entry.unreported ?? 0) + use.amount
      }
    }
  }

  /// Takes `amount` from the bucket of `key`. The bucket is a new, full one if there is none or its allowance has
  /// changed.
  func take(
    _ key: Key, _ allowance: Allowance, _ amount: Int = 1, at now: Duration
  ) -> TokenBucket.Verdict {
    entries.withLock { entries in
      if entries[key] == nil, entries.count >= capacity { makeRoom(in: &entries, at: now) }
      let bucket = Self.bucket(of: key, allowance, in: entries, at: now)
      let unreported = entries[key]?.bucket.allowance == allowance ? entries[key]?.unreported : nil
      var entry = Entry(bucket: bucket, lastUse: now, unreported: unreported)
      let verdict = entry.bucket.take(amount, at: now)
      entry.unreported = (unreported ?? 0) + (verdict.isAllowed ? amount : 0)
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
