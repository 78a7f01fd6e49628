/// Hashes, each with a mark from 0 to 3, in one flat array: 10 to 20 bytes for each.
///
/// What the hashes are of is not kept, and so two different things are taken for one where 61 bits of their hashes are
/// alike. ``Swift/Hasher`` is seeded anew in every process, so that nobody can bring that about; among 200,000 it
/// happens by chance once in a hundred million times.
package struct HashTable {
  /// A slot that is taken holds its hash with the mark in the lowest two bits, and a set bit above them.
  private var slots: [UInt64] = []

  /// How many hashes there are.
  package private(set) var count = 0

  package init() {}

  /// The mark of `hash`; `nil` where it is not there.
  package func mark(of hash: Int) -> UInt8? {
    guard !slots.isEmpty else { return nil }
    let slot = slots[index(of: Self.key(hash))]
    return slot == 0 ? nil : UInt8(slot & 3)
  }

  /// Marks `hash`, and adds it where it is not there.
  /// - Returns: Whether it is new.
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

  /// Where the key stands, or would.
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
