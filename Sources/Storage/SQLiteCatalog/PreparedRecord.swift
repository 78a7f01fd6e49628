import Foundation
import SnapshotFormat
import SnapshotStore

/// What is written for a record: made before the writer's turn, and on all cores.
struct PreparedRecord: Sendable {
  let id: Data
  /// Milliseconds since 1970.
  let received: Int64
  let report: String
  let version: Data
  let isPending: Bool
  /// The bundle's bytes.
  let size: Int64
  /// Those of the record in a list.
  let length: Int
  let record: Data
  /// The terms, with spaces between.
  let description: String
  /// Those of the identifiers; `nil` where they are not known.
  let identifiers: String?

  init(_ record: SnapshotRecord) {
    id = Data(record.id.bytes)
    received = Cursor(after: record).receivedAt
    report = record.report.description
    version = Data(VersionKey(record.application.version).bytes)
    isPending = record.verified == .pending
    size = record.size
    length = record.listedLength
    self.record = RecordCoder.encode(record)
    description = record.descriptionTerms.text
    identifiers = record.identifierTerms?.text
  }
}
