/// Keeps what was used a short while ago, as far as its cost allows. A value without a lock.
package struct LRUCache<Key: Hashable, Value> {
  private typealias Entry = (value: Value, cost: Int)

  /// Used since the last turn, and used in the turn before: what two turns don't ask for is dropped.
  private var recent: [Key: Entry] = [:]
  private var former: [Key: Entry] = [:]
  private var recentCost = 0
  private let limit: Int

  /// A table whose entries cost at most about `limit` together.
  package init(limit: Int) { self.limit = limit / 2 }

  /// What is kept under `key`.
  package mutating func value(of key: Key) -> Value? {
    if let entry = recent[key] { return entry.value }
    guard let entry = former.removeValue(forKey: key) else { return nil }
    add(entry, under: key)
    return entry.value
  }

  /// Keeps `value` under `key`, in place of what was kept there; nothing is kept that costs more than half of all.
  package mutating func keep(_ value: Value, under key: Key, cost: Int) {
    remove(key)
    add((value, cost), under: key)
  }

  /// Drops what is kept under `key`.
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
