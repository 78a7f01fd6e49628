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
  /// A hash table with open addressing and linear probing. At most half of the entries are in use.
  private var table = [Entry](repeating: Entry(), count: 1 << 13)

  /// An entry of the hash table.
  private struct Entry {
    /// The number of the term plus 1; 0 if the entry is free.
    var number: Int32 = 0
    var hash: UInt32 = 0
  }

  /// Adds a record, which has a higher number than those before.
  mutating func add(_ slot: Int, record: [UInt8], identifiers: [UInt8]) throws {
    insert(Array(IndexedTerms.all.utf8), slot)
    insert(try RecordCoder.decode(record).descriptionTerms.bytes, slot)
    insert(identifiers, slot)
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

  /// Inserts the terms of a list, which are separated by spaces.
  private mutating func insert(_ list: [UInt8], _ slot: Int) {
    var (start, hash) = (0, Hash())
    for index in list.indices {
      if list[index] != UInt8(ascii: " ") {
        hash.add(list[index])
      } else {
        insert(list[start..<index], hash, slot)
        (start, hash) = (index + 1, Hash())
      }
    }
    insert(list[start...], hash, slot)
  }

  private mutating func insert(_ term: ArraySlice<UInt8>, _ hash: Hash, _ slot: Int) {
    guard !term.isEmpty else { return }
    let number = number(of: term, hash)
    note(slot, at: number)
    for beginning in terms[number].beginnings { note(slot, at: beginning) }
  }

  private mutating func note(_ slot: Int, at number: Int) {
    if terms[number].slots.last != UInt16(slot) { terms[number].slots.append(UInt16(slot)) }
  }

  private mutating func number(of term: ArraySlice<UInt8>, _ hash: Hash) -> Int {
    let hash = hash.value
    var place = place(of: hash)
    while table[place].number != 0 {
      if table[place].hash == hash, isTerm(Int(table[place].number) - 1, equalTo: term) {
        return Int(table[place].number) - 1
      }
      place = (place + 1) & (table.count - 1)
    }
    let number = terms.count
    terms.append(Term(start: bytes.count, end: bytes.count + term.count))
    bytes += term
    table[place] = Entry(number: Int32(number + 1), hash: hash)
    if terms.count * 2 > table.count { grow() }
    terms[number].beginnings = IndexedTerms.beginnings(of: String(decoding: term, as: UTF8.self)).map {
      let beginning = Array($0.utf8)
      return self.number(of: beginning[...], Hash(beginning))
    }
    return number
  }

  private func isTerm(_ number: Int, equalTo term: ArraySlice<UInt8>) -> Bool {
    let found = terms[number]
    guard found.end - found.start == term.count else { return false }
    let offset = found.start - term.startIndex
    return term.indices.allSatisfy { bytes[$0 + offset] == term[$0] }
  }

  private func place(of hash: UInt32) -> Int { Int(hash) & (table.count - 1) }

  private mutating func grow() {
    let entries = table
    table = Array(repeating: Entry(), count: entries.count * 2)
    for entry in entries where entry.number != 0 {
      var place = place(of: entry.hash)
      while table[place].number != 0 { place = (place + 1) & (table.count - 1) }
      table[place] = entry
    }
  }

  /// FNV-1a, which is computed while the end of a term is searched for.
  private struct Hash {
    private var state: UInt64 = 0xCBF2_9CE4_8422_2325

    init() {}

    init(_ term: [UInt8]) {
      self.init()
      for byte in term { add(byte) }
    }

    mutating func add(_ byte: UInt8) { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }

    var value: UInt32 { UInt32(truncatingIfNeeded: state >> 20) }
  }
}
