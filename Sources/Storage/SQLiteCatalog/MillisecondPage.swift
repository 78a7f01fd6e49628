import Foundation
import SnapshotFormat
import SnapshotStore

/// Builds a page from records that a catalogue finds by their milliseconds, newest first, and in no particular order within
/// a millisecond.
struct MillisecondPage {
  /// A record that waits until all records of its millisecond are known and can be sorted.
  private struct Found {
    let cursor: Cursor
    let row: Data
  }

  private let end: Cursor?
  private var builder: PageBuilder
  private var millisecond: Int64?
  private var found: [Found] = []

  /// Begins the page that `request` asks for.
  init(_ request: PageRequest) {
    end = request.cursor
    builder = PageBuilder(request)
  }

  /// Adds a record.
  /// - Parameters:
  ///   - millisecond: the time by which the catalogue orders the record.
  ///   - cursor: the position of the record; `nil` if it can't be read, so that the record is omitted.
  ///   - row: returns the record's ``SnapshotFormat/SnapshotRecord/row()``.
  /// - Returns: whether the page has room for the next record.
  mutating func add(
    in millisecond: Int64, _ cursor: Cursor?, row: () -> Data
  ) throws -> Bool {
    if millisecond != self.millisecond {
      try settle()
      self.millisecond = millisecond
    }
    guard !builder.isFull, let cursor else { return !builder.isFull }
    if end.map({ cursor < $0 }) ?? true {
      found.append(Found(cursor: cursor, row: row()))
    }
    return true
  }

  /// Returns the page. Call it once, at the end.
  mutating func finish() throws -> Page {
    try settle()
    return builder.page
  }

  private mutating func settle() throws {
    for found in found.sorted(by: { $0.cursor > $1.cursor }) {
      try builder.append(length: found.row.count) { try SnapshotRecord(row: found.row) }
    }
    found.removeAll(keepingCapacity: true)
  }
}
