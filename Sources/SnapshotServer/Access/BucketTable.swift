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

  /// Takes one out of the bucket of `key`, which is a full one the first time, and where its limit was another.
  func take(_ key: Key, _ limit: RateLimit, at now: Duration) -> TokenBucket.Verdict {
    entries.withLock { entries in
      var entry = entries[key] ?? Entry(bucket: TokenBucket(limit, at: now), lastUse: now)
      if !entry.bucket.counts(against: limit) { entry.bucket = TokenBucket(limit, at: now) }
      if entries[key] == nil, entries.count >= capacity { makeRoom(in: &entries, at: now) }
      let verdict = entry.bucket.take(at: now)
      entry.lastUse = now
      entries[key] = entry
      return verdict
    }
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
