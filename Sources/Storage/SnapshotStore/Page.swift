package import Foundation
public import SnapshotFormat

/// Which page of a list.
public struct PageRequest: Sendable, Hashable {
  /// The most records on a page.
  public static let maximumLimit = 1000
  /// The most bytes of a page's records as JSON: a page that would have more ends early, but holds at least one record.
  public static let maximumBytes = 4 << 20
  /// How many records, 1 to ``maximumLimit``; a catalogue takes a number outside as the nearer end.
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
public struct Cursor: Sendable, Hashable, LosslessStringConvertible, Comparable {
  /// The last record's time, in milliseconds since 1970.
  public let receivedAt: Int64
  /// The last record's id, for records of one time.
  public let id: SnapshotID

  /// The place of `record`.
  public init(after record: SnapshotRecord) {
    receivedAt = Self.milliseconds(record.receivedAt)
    id = record.id
  }

  /// The place of a record of that time, in milliseconds since 1970, and id.
  package init(receivedAt: Int64, id: SnapshotID) {
    self.receivedAt = receivedAt
    self.id = id
  }

  /// `date` in milliseconds since 1970, in the years that JSON can write.
  package static func milliseconds(_ date: Date) -> Int64 {
    Int64((SnapshotJSON.milliseconds(of: date).timeIntervalSince1970 * 1000).rounded())
  }

  /// Reads what ``description`` gave, else `nil`.
  public init?(_ text: String) {
    let parts = text.split(separator: "_", maxSplits: 1)
    guard parts.count == 2, let time = Int64(parts[0]), let id = SnapshotID(String(parts[1])) else {
      return nil
    }
    receivedAt = time
    self.id = id
  }

  /// A form for URLs.
  public var description: String { "\(receivedAt)_\(id)" }

  /// The older one first, by id where two are of one time.
  public static func < (left: Self, right: Self) -> Bool {
    (left.receivedAt, left.id) < (right.receivedAt, right.id)
  }
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
