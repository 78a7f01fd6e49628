/// Terms as one text: each once, in the order in which they came, a space behind each.
///
/// A term is put together byte by byte behind those that are there, so that none is a value of its own.
package struct TermList: Sendable, Equatable {
  /// The terms, in UTF-8.
  package private(set) var bytes: [UInt8] = []
  /// How many there are.
  package private(set) var count = 0
  /// Where the term begins that is being put together.
  private var start = 0
  /// Where each term begins, plus one, at the place that its hash asks for or the next that was free; 0 is free. No more
  /// than half of them are taken.
  private var slots = [UInt32](repeating: 0, count: 128)

  /// None.
  package init() {
    bytes.reserveCapacity(1024)
  }

  /// The terms as one text.
  package var text: String { String(decoding: bytes.dropLast(), as: UTF8.self) }

  /// The terms one by one.
  package var terms: [String] {
    bytes.split(separator: Self.space).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The same terms in the same order.
  package static func == (left: Self, right: Self) -> Bool { left.bytes == right.bytes }

  /// How many bytes the term that is being put together has.
  var pendingCount: Int { bytes.count - start }

  /// Goes on with the term that is being put together; no byte is a space.
  mutating func append(_ byte: UInt8) { bytes.append(byte) }

  /// Goes on with the term that is being put together.
  mutating func append(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

  /// Takes back the last byte of the term that is being put together, where that is `byte`.
  mutating func takeBack(_ byte: UInt8) -> Bool {
    guard pendingCount > 0, bytes.last == byte else { return false }
    bytes.removeLast()
    return true
  }

  /// Ends the term that is being put together, if there is one.
  /// - Returns: whether it is new.
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

  /// The slot of the term in `range`, or the free one where it belongs.
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
    // What is looked for stands behind all that it may be equal to.
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
