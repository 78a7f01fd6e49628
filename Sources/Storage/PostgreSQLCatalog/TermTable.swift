import SnapshotStore

/// The distinct terms of a block, and for each the records that have it.
///
/// A block has thousands of terms, and each record a hundred, so that the terms are compared as bytes in one array, and
/// the beginnings of a word are computed once.
struct TermTable {
  private struct Term {
    /// The range of the term in ``TermTable/bytes``.
    let start: Int
    let end: Int
    /// The numbers of the terms of the word's beginnings.
    var beginnings: [Int] = []
    /// The records in ascending order.
    var slots: [UInt16] = []
  }

  private var bytes: [UInt8] = []
  private var terms: [Term] = []
  /// A hash table with open addressing and linear probing: the number of each term plus 1, or 0 for a free slot. At most
  /// half of the slots are in use.
  private var table = [Int32](repeating: 0, count: 1 << 13)

  /// Adds a record, which has a higher number than those before.
  mutating func add(_ slot: Int, record: some Collection<UInt8>, identifiers: [UInt8]) throws {
    insert(Array(IndexedTerms.all.utf8)[...], slot)
    for list in [try RecordCoder.decode(record).descriptionTerms.bytes, identifiers] {
      var start = 0
      for index in list.indices where list[index] == UInt8(ascii: " ") {
        if index > start { insert(list[start..<index], slot) }
        start = index + 1
      }
      if start < list.count { insert(list[start...], slot) }
    }
  }

  /// The terms in the order of their bytes, and the records that have each, in ascending order.
  var lists: [(term: ArraySlice<UInt8>, slots: [UInt16])] {
    // Most terms differ in the first eight bytes, which are compared as a number.
    let ordered = terms.map { term in
      let first = bytes[term.start..<min(term.end, term.start + 8)]
      let unused = UInt64(8 * (8 - first.count))
      return (order: first.reduce(0 as UInt64) { $0 << 8 | UInt64($1) } << unused, term: term)
    }.sorted { left, right in
      left.order != right.order
        ? left.order < right.order
        : bytes[left.term.start..<left.term.end].lexicographicallyPrecedes(
          bytes[right.term.start..<right.term.end])
    }
    return ordered.map { (bytes[$0.term.start..<$0.term.end], $0.term.slots) }
  }

  private mutating func insert(_ term: ArraySlice<UInt8>, _ slot: Int) {
    let number = number(of: term)
    note(slot, at: number)
    for beginning in terms[number].beginnings { note(slot, at: beginning) }
  }

  private mutating func note(_ slot: Int, at number: Int) {
    if terms[number].slots.last != UInt16(slot) { terms[number].slots.append(UInt16(slot)) }
  }

  private mutating func number(of term: ArraySlice<UInt8>) -> Int {
    let place = place(of: term)
    if table[place] != 0 { return Int(table[place]) - 1 }
    let number = terms.count
    terms.append(Term(start: bytes.count, end: bytes.count + term.count))
    bytes += term
    table[place] = Int32(number + 1)
    if terms.count * 2 > table.count { grow() }
    terms[number].beginnings = IndexedTerms.beginnings(of: String(decoding: term, as: UTF8.self)).map {
      self.number(of: Array($0.utf8)[...])
    }
    return number
  }

  /// The place of the term in the table, or the free place for it.
  private func place(of term: ArraySlice<UInt8>) -> Int {
    // FNV-1a
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in term { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    var place = Int(truncatingIfNeeded: hash >> 20) & (table.count - 1)
    while table[place] != 0 {
      let found = terms[Int(table[place]) - 1]
      if found.end - found.start == term.count, bytes[found.start..<found.end] == term { break }
      place = (place + 1) & (table.count - 1)
    }
    return place
  }

  private mutating func grow() {
    table = Array(repeating: 0, count: table.count * 2)
    for (number, term) in terms.enumerated() {
      table[place(of: bytes[term.start..<term.end])] = Int32(number + 1)
    }
  }
}
