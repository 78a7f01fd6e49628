import PostgreSQLClient
import SnapshotStore

/// Writes blocks of records that are consecutive in time.
struct BlockWriter: Sendable {
  /// A record of the block.
  private struct Member: Sendable {
    let place: Int64
    let received: Int64
    let size: Int64
  }

  /// The columns of the table `snapshot` that a block is made of.
  static let columns = "place, received, size, record, identifiers"

  private let members: [Member]
  private let listing: Listing
  /// The rows of the table `posting`, in the order of their terms, so that the index is written in its order.
  private let postings: [(term: ArraySlice<UInt8>, slots: [UInt16])]

  /// The place of the last record.
  var last: Int64 { members[members.count - 1].place }

  /// Creates a block of rows with ``columns``, at most ``IndexLimits/block`` in the order of their places; `nil` if there
  /// are none.
  init?(_ rows: PostgreSQLResult) throws {
    guard !rows.isEmpty else { return nil }
    var terms = TermTable()
    for (slot, row) in rows.enumerated() {
      try terms.add(slot, record: row.bytes(3), identifiers: row.bytes(4))
    }
    members = try rows.map { Member(place: try $0.int(0), received: try $0.int(1), size: try $0.int(2)) }
    listing = Listing(members.map { .init(place: $0.place, size: $0.size) })
    postings = terms.lists
  }

  /// Writes the block. Call it in a transaction that holds ``Schema/changes``. Records that were removed since they were
  /// read are marked as gone.
  /// - Parameter isNew: whether to add the other records to the table `day`.
  func write(_ connection: PostgreSQLConnection, isNew: Bool) throws {
    let key = Place.blockKey(first: members[0].place)
    let remaining = Set(
      try connection.query(
        "SELECT place FROM snapshot WHERE place = ANY($1)", [.ints(members.map(\.place))]
      ).map { try $0.int(0) })
    let gone = members.indices.filter { !remaining.contains(members[$0].place) }.flatMap(SlotSet.number)
    _ = try connection.query(
      "INSERT INTO block VALUES ($1, $2, $3, $4)",
      [.int(key), .int(last), .bytes(listing.bytes), gone.isEmpty ? .null : .bytes(gone)])
    try connection.copy(into: "posting (term, place, slots)") { rows in
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

  /// Removes the rows that the records had when they had no block.
  func removeLoose(_ connection: PostgreSQLConnection) throws {
    var (terms, places): ([String], [Int64]) = ([], [])
    for posting in postings {
      terms += Array(repeating: String(decoding: posting.term, as: UTF8.self), count: posting.slots.count)
      places += posting.slots.map { members[Int($0)].place }
    }
    _ = try connection.query(
      """
      DELETE FROM posting USING unnest($1, $2) AS each (term, place)
      WHERE posting.term = each.term AND posting.place = each.place
      """, [.texts(terms), .ints(places)])
  }
}
