import Foundation
public import SnapshotFormat

/// An index over the records of a store; it can always be made anew from them.
public protocol Catalog: Sendable {
  /// Adds a record, or replaces the one with the same id.
  func insert(_ record: SnapshotRecord) async throws
  /// Removes a record, if it is there.
  func remove(_ id: SnapshotID) async throws
  /// One page of the records of `report`, newest first.
  func records(of report: ReportID, page: PageRequest) async throws -> Page
}

/// Which page of a list.
public struct PageRequest: Sendable, Hashable {
  /// The most records on a page.
  public static let maximumLimit = 1000
  /// How many records, 1 to ``maximumLimit``.
  public var limit: Int
  /// Where the last page ended: what ``Page/next`` said.
  public var cursor: Cursor?

  /// Asks for a page.
  public init(limit: Int = 100, cursor: Cursor? = nil) {
    self.limit = limit
    self.cursor = cursor
  }
}

/// A place in a list, newest first, that stays right while new records arrive.
public struct Cursor: Sendable, Hashable, LosslessStringConvertible {
  /// The last record's time, in milliseconds since 1970.
  public let receivedAt: Int64
  /// The last record's id, for records of one time.
  public let id: SnapshotID

  /// The place of `record`.
  public init(after record: SnapshotRecord) {
    receivedAt = Int64((record.receivedAt.timeIntervalSince1970 * 1000).rounded())
    id = record.id
  }

  /// Reads what ``description`` gave, else `nil`.
  public init?(_ text: String) {
    let parts = text.split(separator: "_", maxSplits: 1)
    guard parts.count == 2, let time = Int64(parts[0]), let id = SnapshotID(String(parts[1])) else { return nil }
    receivedAt = time
    self.id = id
  }

  /// A form for URLs.
  public var description: String { "\(receivedAt)_\(id)" }
}

/// Records, and where the next ones begin.
public struct Page: Sendable, Hashable {
  /// The records, newest first.
  public var records: [SnapshotRecord]
  /// Where to go on; `nil` on the last page.
  public var next: Cursor?

  /// A page.
  public init(records: [SnapshotRecord], next: Cursor?) {
    self.records = records
    self.next = next
  }
}
