/// A list of distinct terms in the order of insertion, stored as one text with a space after each term.
///
/// A term is assembled byte by byte at the end of this text, so that no term needs memory of its own.
package struct TermList: Sendable, Equatable {
  /// The terms, in UTF-8.
  package private(set) var bytes: [UInt8] = []
  /// The number of terms.
  package private(set) var count = 0
  /// The offset of the term that is being assembled.
  private var start = 0
  /// A hash table with open addressing and linear probing: the offset of each term plus 1, or 0 for a free slot. At
  /// most half of the slots are in use.
  private var slots = [UInt32](repeating: 0, count: 128)

  /// Creates an empty list.
  package init() {
    bytes.reserveCapacity(1024)
  }

  /// The terms as one text, separated by spaces.
  package var text: String { String(decoding: bytes.dropLast(), as: UTF8.self) }

  /// The terms as separate texts.
  package var terms: [String] {
    bytes.split(separator: Self.space).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Whether both lists contain the same terms in the same order.
  package static func == (left: Self, right: Self) -> Bool { left.bytes == right.bytes }

  /// The length in bytes of the term that is being assembled.
  var pendingCount: Int { bytes.count - start }

  /// Appends a byte, which must not be a space, to the term that is being assembled.
  mutating func append(_ byte: UInt8) { bytes.append(byte) }

  /// Appends bytes to the term that is being assembled.
  mutating func append(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

  /// Completes the term that is being assembled, if it is not empty.
  /// - Returns: whether the term was not in the list yet.
  @discardableResult
  mutating func endTerm() -> Bool {
    guard pendingCount > 0 else { return false }
    let slot = slot(of: start..<bytes.count)
    guard slots[slot] == 0 else {
      bytes.removeSubrange(start...)
      return false
    }
    slots[slot] = UInt32(start) + 1
    count += 1
    bytes.append(Self.space)
    start = bytes.count
    if count * 2 > slots.count { grow() }
    return true
  }

  private static let space = UInt8(ascii: " ")

  /// The slot of the term in `range`, or the free slot for it.
  private func slot(of range: Range<Int>) -> Int {
    var hasher = Hasher()
    unsafe bytes[range].withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    var slot = hasher.finalize() & (slots.count - 1)
    while slots[slot] != 0, !isTerm(at: Int(slots[slot]) - 1, equalTo: range) {
      slot = (slot + 1) & (slots.count - 1)
    }
    return slot
  }

  private func isTerm(at other: Int, equalTo range: Range<Int>) -> Bool {
    let end = other + range.count
    // The term to compare is after all complete terms, so that a match must end before it.
    return end < range.lowerBound && bytes[end] == Self.space && bytes[other..<end] == bytes[range]
  }

  private mutating func grow() {
    let terms = slots
    slots = [UInt32](repeating: 0, count: 2 * terms.count)
    for term in terms where term != 0 {
      let start = Int(term) - 1
      let end = bytes[start...].firstIndex(of: Self.space) ?? bytes.count
      slots[slot(of: start..<end)] = term
    }
  }
}
