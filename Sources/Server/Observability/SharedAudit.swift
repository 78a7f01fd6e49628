package import Foundation
package import SnapshotFormat

/// The audit lines of all servers that share their snapshots. All methods throw if the table does not answer.
///
/// A server copies the files of its audit log into the table. A file is identified by the digest of its first line, which
/// has a time and the id of a request, so that it is the same file after it was renamed.
package protocol SharedAudit: Sendable {
  /// Returns how many bytes of each file of `server` the table has.
  func positions(of server: SnapshotID) async throws -> [ContentDigest: Int64]
  /// Adds the lines of a batch, and notes that the table has the file up to the batch's end: both or neither.
  /// - Returns: `false`, with nothing added, if the table does not have the file exactly up to the batch's start.
  func append(_ batch: AuditBatch, of server: SnapshotID) async throws -> Bool
  /// Removes the lines of the oldest files of `server`, so that it has at most `count` files of either kind, and those of
  /// servers that have not called this for ``AuditLimits/unseenDays``.
  func trim(_ server: SnapshotID, keeping count: Int) async throws
  /// Returns the newest lines about actions on a snapshot that were not refused, newest first.
  func lines(about id: SnapshotID, limit: Int) async throws -> [String]
}

/// Consecutive lines of one file of an audit log.
package struct AuditBatch: Sendable, Hashable {
  /// A line, without its end.
  package struct Line: Sendable, Hashable {
    /// The position of the line in the file.
    package var position: Int64
    /// The time at which the action ended.
    package var time: Date
    /// The snapshot that was accessed, and the one with which it was compared.
    package var snapshot, comparedWith: SnapshotID?
    /// The line in JSON.
    package var text: String
  }

  /// Identifies the file.
  package var file: ContentDigest
  /// Whether the file is one for refused actions.
  package var isRefused: Bool
  /// The part of the file, from the beginning of a line to the end of one.
  package var range: Range<Int64>
  /// The lines that are valid. Others, which a crash can leave, are omitted.
  package var lines: [Line]
}

/// The limits of copying an audit log to other servers.
package enum AuditLimits {
  /// The maximum and the minimum number of bytes that are copied in one transaction. After a failure the number is
  /// halved.
  package static let batchBytes = 16 << 10...256 << 10
  /// The maximum number of bytes that are copied until a caller returns. The rest is copied by the next pass.
  package static let passBytes: Int64 = 4 << 20
  /// The number of bytes within which the first line of a file is searched. Of a longer one, these identify the file.
  package static let firstLineBytes = 64 << 10
  /// The number of days after which the lines of a server are removed that does not run any more.
  package static let unseenDays = 365
  /// The number of lines that are removed in one transaction.
  package static let removedLines = 2000
}
