import Foundation
import SnapshotFormat
import SnapshotStore

/// The column values of a record. They are computed on all cores before the writer's turn.
struct PreparedRecord: Sendable {
  let id: Data
  /// Milliseconds since 1970.
  let received: Int64
  let report: String
  let version: Data
  let isPending: Bool
  let revision: Int64
  /// The size of the bundle in bytes.
  let size: Int64
  let record: Data
  /// The search terms of the record without its identifiers, separated by spaces.
  let description: String
  /// The search terms of the identifiers, separated by spaces; `nil` if the identifiers are not known.
  let identifiers: String?

  init(_ record: SnapshotRecord) throws {
    id = Data(record.id.bytes)
    received = Cursor(after: record).receivedAt
    report = record.report.description
    version = Data(VersionKey(record.application.version).bytes)
    isPending = record.verified == .pending
    revision = record.revision ?? 0
    size = record.size
    self.record = try record.row()
    description = record.descriptionTerms.text
    identifiers = record.identifierTerms?.text
  }
}

/// A change that waits for the next transaction, which writes all waiting changes.
struct PendingChange: Sendable {
  enum Kind: Sendable {
    case add(SnapshotRecord)
    case insert([PreparedRecord])
    case remove(Data)
  }

  let kind: Kind
  let finish: @Sendable (CatalogError?) -> Void
}
