import PostgreSQLClient
import SnapshotStore

/// Finds the places of the records that match a plan, newest first, in one state of the database.
///
/// The index is read in windows: the newest blocks and the records without a block among them, then more and more
/// blocks. If a condition is met in few places, these are read first, and the search is limited to them.
struct PlaceSearch {
  /// A block with the records that match.
  private struct Block {
    let key: Int64
    let last: Int64
    let slots: SlotSet

    var first: Int64 { Place.first(ofBlock: key) }
  }

  /// A part of the index. Its records are older than those of the former window.
  private struct Window {
    /// The matching records without a block, newest first.
    var loose: ArraySlice<Int64>
    /// The blocks with matching records, newest first.
    var blocks: ArraySlice<Block>
  }

  private let plan: SearchPlan
  private let connection: PostgreSQLConnection
  /// The keys that the search is limited to and that are in no window yet, in ascending order; `nil` for all.
  private var keys: ArraySlice<Int64>?
  /// The highest key of the next window; `nil` at the end.
  private var top: Int64?
  private var blocksOfNext: Int
  private var window = Window(loose: [], blocks: [])

  /// Begins a search.
  /// - Parameter blocks: the number of blocks of the first window.
  init(_ plan: SearchPlan, _ connection: PostgreSQLConnection, blocks: Int = 4) throws {
    (self.plan, self.connection, blocksOfNext) = (plan, connection, blocks)
    top = plan.places.upperBound
    keys = try Self.rareKeys(plan, connection)?[...]
  }

  // MARK: - Results

  /// Returns the next matching records, newest first, at least `count` unless these are the last; `nil` at the end.
  /// - Parameter needsSizes: whether the sizes are needed of records that have no block.
  mutating func next(_ count: Int, needsSizes: Bool = false) throws -> [Listing.Entry]? {
    while window.loose.isEmpty, window.blocks.isEmpty {
      guard let next = try nextWindow() else { return nil }
      window = next
    }
    var taken: [Block] = []
    var found = 0
    while found < count, let block = window.blocks.popFirst() {
      taken.append(block)
      found += block.slots.count
    }
    // Records without a block can be between those of a block.
    let lowest = window.blocks.isEmpty ? Int64.min : taken.last?.first ?? .min
    let loose = window.loose.prefix { $0 >= lowest }
    window.loose.removeFirst(loose.count)
    var entries = try self.loose(Array(loose), needsSizes: needsSizes)
    entries += try self.entries(of: taken)
    return entries.filter { plan.places.contains($0.place) }.sorted { $0.place > $1.place }
  }

  /// Counts the matching records up to a limit, approximately beyond it.
  mutating func count(limit: Int) throws -> Int {
    var count = 0
    while count <= limit, let window = try nextWindow() {
      count += window.loose.count
      // The first and the last block can have records outside of the range.
      let isWhole = { [plan] (block: Block) in
        plan.places.contains(block.first) && plan.places.contains(block.last)
      }
      for block in window.blocks where isWhole(block) { count += block.slots.count }
      let cut = try entries(of: window.blocks.filter { !isWhole($0) })
      count += cut.count { plan.places.contains($0.place) }
    }
    return count
  }

  // MARK: - Windows

  /// Selects the blocks of a window, newest first.
  static let blocksSQL = """
    SELECT key, last, gone FROM block WHERE key <= $1 AND last >= $2 ORDER BY key DESC LIMIT $3
    """
  /// Selects blocks by their keys.
  static let keyedBlocksSQL = "SELECT key, last, gone FROM block WHERE key = ANY($1)"
  /// Selects the rows of terms in a window.
  static let postingsSQL = """
    SELECT wanted.number, posting.place, posting.slots FROM unnest($1) WITH ORDINALITY AS wanted (term, number)
    JOIN posting ON posting.term = wanted.term AND posting.place BETWEEN $2 AND $3
    """
  /// Selects the rows of terms by their keys.
  static let keyedPostingsSQL = """
    SELECT wanted.number, posting.place, posting.slots FROM unnest($1) WITH ORDINALITY AS wanted (term, number)
    JOIN posting ON posting.term = wanted.term AND posting.place = ANY($2)
    """
  /// Selects some keys of terms.
  static let keysSQL = """
    SELECT found.place FROM unnest($1) AS wanted (term) CROSS JOIN LATERAL (
      SELECT place FROM posting WHERE posting.term = wanted.term AND posting.place <= $2 LIMIT $3) AS found
    LIMIT $3
    """
  /// Selects the listings of blocks.
  static let listingsSQL = "SELECT key, listing FROM block WHERE key = ANY($1)"
  /// Selects entries of listings by their numbers of two bytes. If these have more than $4 bytes, the listing is read
  /// once, and otherwise only the parts that contain the entries.
  static let entriesSQL = """
    SELECT (SELECT string_agg(
        substr(block.listing,
          (get_byte(wanted.slots, 2 * n) + 256 * get_byte(wanted.slots, 2 * n + 1)) * $3::integer + 1, $3::integer),
        '') FROM generate_series(0, length(wanted.slots) / 2 - 1) AS n)
    FROM unnest($1, $2) AS wanted (key, slots) CROSS JOIN LATERAL (
      SELECT CASE WHEN length(wanted.slots) > $4 THEN listing || '' ELSE listing END AS listing
      FROM block WHERE block.key = wanted.key OFFSET 0) AS block
    """
  /// Selects the sizes of records.
  static let sizesSQL = "SELECT place, size FROM snapshot WHERE place = ANY($1)"

  /// Returns the keys of a condition that few records meet; `nil` if there is none.
  private static func rareKeys(
    _ plan: SearchPlan, _ connection: PostgreSQLConnection
  ) throws -> [Int64]? {
    func keys(_ terms: [String], limit: Int) throws -> [Int64] {
      let top = Place.blockKey(first: plan.places.upperBound)
      return try connection.query(keysSQL, [.texts(terms), .int(top), .int(Int64(limit))])
        .map { try $0.int(0) }
    }
    for condition in plan.conditions {
      let found = try keys(Set(condition.terms).map { plan.terms[$0] }, limit: IndexLimits.rare)
      guard found.count < IndexLimits.rare else { continue }
      let rare = Set(found).sorted()
      // If most blocks are among them, it takes less time to read all in their order than to look up each.
      let enough = rare.count * IndexLimits.rareShare
      if try keys([IndexedTerms.all], limit: enough).count == enough { return rare }
    }
    return nil
  }

  /// Removes the highest keys; `nil` if the search is not limited to keys.
  ///
  /// The lowest is that of a block, because records without a block can be between those of a block: all other records
  /// are older than a block's first.
  private mutating func takeKeys() -> [Int64]? {
    guard var rest = keys else { return nil }
    var taken: [Int64] = []
    while let key = rest.popLast() {
      taken.append(key)
      if taken.count >= blocksOfNext, Place.isBlockKey(key) { break }
    }
    blocksOfNext *= 4
    keys = rest
    return taken
  }

  private mutating func nextWindow() throws -> Window? {
    guard let top else { return nil }
    let texts = PostgreSQLValue.texts(plan.terms)
    if let keys = takeKeys() {
      guard !keys.isEmpty else { return nil }
      let blocks = try connection.query(Self.keyedBlocksSQL, [.ints(keys)])
      return try match(blocks, connection.query(Self.keyedPostingsSQL, [texts, .ints(keys)]))
    }
    let blocks = try connection.query(
      Self.blocksSQL, [.int(top | 1), .int(plan.places.lowerBound), .int(Int64(blocksOfNext))])
    var lowest = plan.places.lowerBound
    if let oldest = try blocks.last?.int(0) {
      let first = Place.first(ofBlock: oldest)
      let isLast = blocks.count < blocksOfNext || first <= lowest
      lowest = isLast ? min(first, lowest) : first
      self.top = isLast ? nil : first - 1
    } else {
      self.top = nil
    }
    blocksOfNext = min(blocksOfNext * 4, 4096)
    return try match(
      blocks, connection.query(Self.postingsSQL, [texts, .int(lowest), .int(top | 1)]))
  }

  /// Returns what matches in the given rows of the tables `block` and `posting`.
  private func match(_ blocks: PostgreSQLResult, _ postings: PostgreSQLResult) throws -> Window {
    var loose: [Int64: Set<Int>] = [:]
    var lists: [Int64: [Int: SlotSet]] = [:]
    for row in postings {
      let (number, key) = (Int(try row.int(0)) - 1, try row.int(1))
      if row.isNull(2) {
        loose[key, default: []].insert(number)
      } else {
        guard let slots = SlotSet(try row.bytes(2)) else { throw MalformedRow() }
        lists[key, default: [:]][number] = slots
      }
    }
    let places = loose.filter { place, terms in
      plan.places.contains(place) && plan.conditions.allSatisfy { $0.isMet(by: terms) }
    }
    var found: [Block] = []
    for row in blocks {
      let (key, last) = (try row.int(0), try row.int(1))
      guard let lists = lists[key], last >= plan.places.lowerBound else { continue }
      var slots = SearchPlan.Condition.all(plan.conditions).slots(lists)
      if !row.isNull(2) {
        guard let gone = SlotSet(numbers: try row.bytes(2)) else { throw MalformedRow() }
        slots.subtract(gone)
      }
      if !slots.isEmpty { found.append(Block(key: key, last: last, slots: slots)) }
    }
    return Window(loose: places.keys.sorted(by: >)[...], blocks: found.sorted { $0.key > $1.key }[...])
  }

  // MARK: - Entries

  /// Returns the matching records of blocks, in no particular order.
  private func entries(of blocks: [Block]) throws -> [Listing.Entry] {
    var entries: [Listing.Entry] = []
    let some = blocks.filter { $0.slots.count <= IndexLimits.someOfBlock }
    if !some.isEmpty {
      let rows = try connection.query(
        Self.entriesSQL,
        [
          .ints(some.map(\.key)), .byteArrays(some.map { $0.slots.slots.flatMap(SlotSet.number) }),
          .int(Int64(Listing.width)), .int(Int64(2 * IndexLimits.fewOfBlock)),
        ])
      for row in rows {
        let listing = try Listing(row.bytes(0))
        entries += try (0..<listing.count).map { try listing.entry($0) }
      }
    }
    let many = blocks.filter { $0.slots.count > IndexLimits.someOfBlock }
    if !many.isEmpty {
      let slots = Dictionary(uniqueKeysWithValues: many.map { ($0.key, $0.slots) })
      for row in try connection.query(Self.listingsSQL, [.ints(many.map(\.key))]) {
        let listing = try Listing(row.bytes(1))
        entries += try slots[try row.int(0)]?.slots.map { try listing.entry($0) } ?? []
      }
    }
    return entries
  }

  private func loose(_ places: [Int64], needsSizes: Bool) throws -> [Listing.Entry] {
    guard needsSizes, !places.isEmpty else { return places.map { .init(place: $0, size: 0) } }
    return try connection.query(Self.sizesSQL, [.ints(places)]).map {
      .init(place: try $0.int(0), size: try $0.int(1))
    }
  }
}
