/// A set of hashes, each with a mark from 0 to 3, in a flat array that takes 10 to 20 bytes for each hash.
///
/// The hashed values are not stored, so two values are considered equal if 61 bits of their hashes are equal.
/// ``Swift/Hasher`` uses a random seed in each process, so a client cannot cause such a collision. Among 200,000
/// values, one occurs by chance with a probability of 1 in 100 million.
package struct HashTable {
  /// A used slot contains the mark in its lowest two bits, a set bit above them, and the remaining bits of the hash. An
  /// empty slot is 0.
  private var slots: [UInt64] = []

  /// The number of hashes.
  package private(set) var count = 0

  package init() {}

  /// The mark of `hash`; `nil` if the table does not contain it.
  package func mark(of hash: Int) -> UInt8? {
    guard !slots.isEmpty else { return nil }
    let slot = slots[index(of: Self.key(hash))]
    return slot == 0 ? nil : UInt8(slot & 3)
  }

  /// Sets the mark of `hash`, which is added if the table does not contain it.
  /// - Returns: Whether the hash was added.
  @discardableResult
  package mutating func mark(_ hash: Int, as mark: UInt8 = 0) -> Bool {
    if (count + 1) * 5 > slots.count * 4 { grow() }
    let key = Self.key(hash)
    let index = index(of: key)
    let isNew = slots[index] == 0
    slots[index] = key | UInt64(mark & 3)
    if isNew { count += 1 }
    return isNew
  }

  private static func key(_ hash: Int) -> UInt64 { UInt64(truncatingIfNeeded: hash) & ~3 | 4 }

  /// The index of the slot for `key`: the one that contains it, or the empty one to insert it at.
  private func index(of key: UInt64) -> Int {
    var index = Int(truncatingIfNeeded: key >> 3) & (slots.count - 1)
    while slots[index] != 0, slots[index] & ~3 != key { index = (index + 1) & (slots.count - 1) }
    return index
  }

  private mutating func grow() {
    let old = slots
    slots = [UInt64](repeating: 0, count: max(64, 2 * old.count))
    for slot in old where slot != 0 { slots[index(of: slot & ~3)] = slot }
  }
}
