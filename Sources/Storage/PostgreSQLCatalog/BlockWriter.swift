import PostgreSQLClient
import SnapshotStore

/// Writes blocks of records that are consecutive in time.
struct BlockWriter: Sendable {
  /// What a block is made of: a row of the table `snapshot`.
  struct Member: Sendable {
    static let columns = "place, received, size, record, identifiers"

    let place: Int64
    let received: Int64
    let size: Int64
    let record: [UInt8]
    let identifiers: [UInt8]

    /// Reads a row with ``columns``.
    init(_ row: PostgreSQLResult.Row) throws {
      (place, received, size) = (try row.int(0), try row.int(1), try row.int(2))
      (record, identifiers) = (try row.bytes(3), try row.bytes(4))
    }

    /// Reads the records at `places`, in the order of their places.
    static func read(_ places: [Int64], _ connection: PostgreSQLConnection) throws -> [Member] {
      try connection.query(
        "SELECT \(columns) FROM snapshot WHERE place = ANY($1) ORDER BY place", [.ints(places)]
      ).map(Member.init)
    }
  }

  private let members: [Member]
  private let listing: Listing
  /// The rows of the table `posting`, in the order of their terms, so that the index is written in its order.
  private let postings: [(term: ArraySlice<UInt8>, slots: [UInt16])]

  /// The place of the last record.
  var last: Int64 { members[members.count - 1].place }

  /// Creates a block of at most ``IndexLimits/block`` records in the order of their places, and at least one.
  init(_ members: [Member]) throws {
    var terms = TermTable()
    for (slot, member) in members.enumerated() {
      try terms.add(slot, record: member.record, identifiers: member.identifiers)
    }
    self.members = members
    listing = Listing(members.map { .init(place: $0.place, size: $0.size) })
    postings = terms.lists
  }

  /// Writes the block. Call it in a transaction that holds ``Schema/changes``. Records that were removed since they were
  /// read are marked as gone.
  /// - Parameters:
  ///   - table: the table for the postings: `posting`, or `built` while the index is built.
  ///   - isNew: whether to add the other records to the table `day`.
  func write(_ connection: PostgreSQLConnection, postings table: String = "posting", isNew: Bool) throws {
    let key = Place.blockKey(first: members[0].place)
    let remaining = Set(
      try connection.query(
        "SELECT place FROM snapshot WHERE place = ANY($1)", [.ints(members.map(\.place))]
      ).map { try $0.int(0) })
    let gone = members.indices.filter { !remaining.contains(members[$0].place) }.flatMap(SlotSet.number)
    _ = try connection.query(
      "INSERT INTO block VALUES ($1, $2, $3, $4)",
      [.int(key), .int(last), .bytes(listing.bytes), gone.isEmpty ? .null : .bytes(gone)])
    try connection.copy(into: "\(table) (term, place, slots)") { rows in
      for posting in postings {
        try rows.beginRow(3)
        rows.append(posting.term)
        rows.append(key)
        rows.append(SlotSet.encode(posting.slots))
      }
    }
    guard isNew else { return }
    var days = DayCounts()
    for member in members where remaining.contains(member.place) {
      days.add(1, received: member.received, size: member.size)
    }
    try days.write(connection)
  }

  /// Removes the rows that the records at `places` had when they had no block.
  func removeLoose(_ places: Set<Int64>, _ connection: PostgreSQLConnection) throws {
    let isLoose = members.map { places.contains($0.place) }
    var (terms, places): ([String], [Int64]) = ([], [])
    for posting in postings {
      let slots = posting.slots.filter { isLoose[Int($0)] }
      guard !slots.isEmpty else { continue }
      terms += Array(repeating: String(decoding: posting.term, as: UTF8.self), count: slots.count)
      places += slots.map { members[Int($0)].place }
    }
    _ = try connection.query(
      """
      DELETE FROM posting USING unnest($1, $2) AS each (term, place)
      WHERE posting.term = each.term AND posting.place = each.place
      """, [.texts(terms), .ints(places)])
  }
}
