import Foundation
import S3Client
import SnapshotFormat
import SnapshotStore

/// Finds and deletes bytes that no record names.
///
/// Bytes are written before the record that names them, so only those are deleted that are older than any upload takes.
struct Sweep: Sendable {
  let client: S3Client
  let states: SnapshotStates
  /// Only what was written before is deleted.
  let limit: Date

  /// Goes through all bytes.
  /// - Returns: how many objects and incomplete uploads were deleted.
  func run() async throws(StoreError) -> Int {
    var count = 0
    var next: String?
    repeat {
      let page = try await StoreError.accessing { () async throws(S3Error) in
        try await client.list(prefix: ObjectKeys.allBytes, after: next)
      }
      for object in page.objects where object.modifiedAt < limit {
        guard try await isOrphan(object.key) else { continue }
        try await StoreError.accessing { () async throws(S3Error) in try await client.delete(object.key) }
        count += 1
      }
      next = page.next
    } while next != nil
    return count + (try await abortUploads())
  }

  private func isOrphan(_ key: String) async throws(StoreError) -> Bool {
    guard let (id, attempt) = ObjectKeys.attempt(ofBytes: key) else { return false }
    guard case .published(_, let named)? = try await states.read(id)?.state.content else { return true }
    return named != attempt
  }

  /// An upload in parts that was not completed has no object, and so no record.
  private func abortUploads() async throws(StoreError) -> Int {
    try await StoreError.accessing { () async throws(S3Error) in
      var count = 0
      try await client.forEachPageOfUploads(prefix: ObjectKeys.allBytes, before: limit) {
        uploads throws(S3Error) in
        for upload in uploads { try await client.abort(upload) }
        count += uploads.count
      }
      return count
    }
  }
}
