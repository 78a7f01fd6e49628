import Synchronization

/// A ``TokenBucket`` for each key, in bounded memory: a full bucket is forgotten first, and then one that was not
/// asked for longest.
final class BucketTable<Key: Hashable & Sendable>: Sendable {
  private struct Entry: Sendable {
    var bucket: TokenBucket
    var lastUse: Duration
  }

  private let capacity: Int
  private let entries = Mutex<[Key: Entry]>([:])

  /// Keeps at most `capacity` buckets, at least 1.
  init(capacity: Int) { self.capacity = max(capacity, 1) }

  /// How many buckets are kept.
  var count: Int { entries.withLock(\.count) }

  /// What taking `amount` out of the bucket of `key` would come to.
  func look(_ key: Key, _ allowance: Allowance, for amount: Int, at now: Duration) -> TokenBucket.Verdict {
    entries.withLock { Self.bucket(of: key, allowance, in: $0, at: now).look(for: amount, at: now) }
  }

  /// Takes `amount` out of the bucket of `key`, which is a full one the first time, and where its allowance was
  /// another.
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

  /// Forgets an eighth at once, so that a flood of keys doesn't cost a look at all of them each time.
  private func makeRoom(in entries: inout [Key: Entry], at now: Duration) {
    entries = entries.filter { !$0.value.bucket.isFull(at: now) }
    let excess = entries.count - (capacity - max(capacity / 8, 1))
    guard excess > 0 else { return }
    for (key, _) in entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }).prefix(excess) {
      entries[key] = nil
    }
  }
}
