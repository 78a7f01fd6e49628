package import Foundation
public import SnapshotFormat

/// The size and position of a page in a list.
public struct PageRequest: Sendable, Hashable {
  /// The maximum number of records on a page.
  public static let maximumLimit = 1000
  /// The maximum size of a page's records as JSON, in bytes. A page that would exceed it ends early, but contains at
  /// least one record.
  public static let maximumBytes = 4 << 20
  /// The number of records, 1 to ``maximumLimit``. A catalogue replaces a number outside this range by the nearest
  /// limit.
  public var limit: Int
  /// The ``Page/next`` of the previous page; `nil` for the first page.
  public var cursor: Cursor?

  /// Creates a request for a page.
  public init(limit: Int = 100, cursor: Cursor? = nil) {
    self.limit = limit
    self.cursor = cursor
  }
}

/// A position in a list, newest first. It remains valid while new records arrive.
public struct Cursor: Sendable, Hashable, LosslessStringConvertible, Comparable {
  /// The time of the last record, in milliseconds since 1970.
  public let receivedAt: Int64
  /// The id of the last record, which distinguishes records of the same time.
  public let id: SnapshotID

  /// Creates the position after `record`.
  public init(after record: SnapshotRecord) {
    receivedAt = Self.milliseconds(record.receivedAt)
    id = record.id
  }

  /// Creates the position after a record with a time of receipt, in milliseconds since 1970, and an id.
  package init(receivedAt: Int64, id: SnapshotID) {
    self.receivedAt = receivedAt
    self.id = id
  }

  /// Returns `date` in milliseconds since 1970, limited to the years that JSON can represent.
  package static func milliseconds(_ date: Date) -> Int64 {
    Int64((SnapshotJSON.milliseconds(of: date).timeIntervalSince1970 * 1000).rounded())
  }

  /// Parses ``description``; `nil` if the text is malformed.
  public init?(_ text: String) {
    let parts = text.split(separator: "_", maxSplits: 1)
    guard parts.count == 2, let time = Int64(parts[0]), let id = SnapshotID(String(parts[1])) else {
      return nil
    }
    receivedAt = time
    self.id = id
  }

  /// A text that can be part of a URL.
  public var description: String { "\(receivedAt)_\(id)" }

  /// Orders positions by time, and by id if the times are equal.
  public static func < (left: Self, right: Self) -> Bool {
    (left.receivedAt, left.id) < (right.receivedAt, right.id)
  }
}

/// Records of a list, and the position of the next page.
public struct Page: Sendable, Hashable {
  /// The records, newest first.
  public var records: [SnapshotRecord]
  /// The position of the next page; `nil` on the last page.
  public var next: Cursor?

  /// Creates a page.
  public init(records: [SnapshotRecord], next: Cursor?) {
    self.records = records
    self.next = next
  }
}
