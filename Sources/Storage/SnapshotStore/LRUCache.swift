/// A cache of recently used values with a maximum total cost. It is a value without a lock.
package struct LRUCache<Key: Hashable, Value> {
  private typealias Entry = (value: Value, cost: Int)

  /// The entries used in the current period and in the previous one. An entry that is used in neither of two successive
  /// periods is dropped.
  private var recent: [Key: Entry] = [:]
  private var former: [Key: Entry] = [:]
  private var recentCost = 0
  private let limit: Int

  /// Creates a cache whose entries have a total cost of at most about `limit`.
  package init(limit: Int) { self.limit = limit / 2 }

  /// Returns the value for `key`, and marks it as used.
  package mutating func value(of key: Key) -> Value? {
    if let entry = recent[key] { return entry.value }
    guard let entry = former.removeValue(forKey: key) else { return nil }
    add(entry, under: key)
    return entry.value
  }

  /// Stores `value` for `key`, and replaces a previous value. A value that costs more than half of the limit is not
  /// stored.
  package mutating func keep(_ value: Value, under key: Key, cost: Int) {
    remove(key)
    add((value, cost), under: key)
  }

  /// Removes the value for `key`.
  package mutating func remove(_ key: Key) {
    if let entry = recent.removeValue(forKey: key) { recentCost -= entry.cost }
    former[key] = nil
  }

  private mutating func add(_ entry: Entry, under key: Key) {
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
