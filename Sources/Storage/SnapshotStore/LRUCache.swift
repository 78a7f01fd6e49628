/// A cache of recently used values with a maximum total cost. It is a value without a lock.
///
/// It is inlinable, because nearly every request reads one or two of them, and generic code that is not specialised for
/// their types takes several times as long.
public struct LRUCache<Key: Hashable, Value> {
  @usableFromInline typealias Entry = (value: Value, cost: Int)

  /// The entries used in the current period and in the previous one. An entry that is used in neither of two successive
  /// periods is dropped.
  @usableFromInline var recent: [Key: Entry] = [:]
  @usableFromInline var former: [Key: Entry] = [:]
  @usableFromInline var recentCost = 0
  @usableFromInline let limit: Int

  /// Creates a cache whose entries have a total cost of at most about `limit`.
  @inlinable public init(limit: Int) { self.limit = limit / 2 }

  /// Returns the value for `key`, and marks it as used.
  @inlinable public mutating func value(of key: Key) -> Value? {
    if let entry = recent[key] { return entry.value }
    guard let entry = former.removeValue(forKey: key) else { return nil }
    add(entry, under: key)
    return entry.value
  }

  /// Stores `value` for `key`, and replaces a previous value. A value that costs more than half of the limit is not
  /// stored.
  @inlinable public mutating func keep(_ value: Value, under key: Key, cost: Int) {
    remove(key)
    add((value, cost), under: key)
  }

  /// Removes the value for `key`.
  @inlinable public mutating func remove(_ key: Key) {
    if let entry = recent.removeValue(forKey: key) { recentCost -= entry.cost }
    former[key] = nil
  }

  /// Removes all values.
  @inlinable public mutating func removeAll() { (recent, former, recentCost) = ([:], [:], 0) }

  @inlinable mutating func add(_ entry: Entry, under key: Key) {
    guard entry.cost <= limit else { return }
    if recentCost + entry.cost > limit {
      former = recent
      recent = [:]
      recentCost = 0
    }
    recent[key] = entry
    recentCost += entry.cost
  }
}
