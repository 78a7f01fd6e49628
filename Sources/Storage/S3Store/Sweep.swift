import Foundation
import S3Client
import SnapshotFormat
import SnapshotStore

/// Finds and deletes bytes that neither a record nor the row of an upload names.
///
/// Bytes are written before the record or row that names them, so only those are deleted that are older than any upload
/// takes.
struct Sweep: Sendable {
  let client: S3Client
  let states: SnapshotStates
  let rows: any UploadRows
  /// Only what was written before is deleted.
  let limit: Date

  /// Goes through all bytes.
  /// - Returns: how many objects and incomplete uploads were deleted.
  func run() async throws(StoreError) -> Int {
    var count = try await deleteObjects(ObjectKeys.allBytes) { key throws(StoreError) in
      try await isOrphan(key)
    }
    // What a later row names is newer than the limit.
    let objects = try await rows.rows().map(\.object).filter { $0.contents != .none }
    let keys = Set(objects.map { ObjectKeys.upload($0.name) })
    count += try await deleteObjects(ObjectKeys.allUploads) { key in
      ObjectKeys.name(ofUpload: key) != nil && !keys.contains(key)
    }
    // An upload in parts that was not completed has no object, and so no record.
    count += try await abortUploads(ObjectKeys.allBytes) { _ in true }
    let uploads = Set(objects.compactMap(S3MultipartUpload.init))
    return count + (try await abortUploads(ObjectKeys.allUploads) { !uploads.contains($0) })
  }

  private func deleteObjects(
    _ prefix: String, if isOrphan: (_ key: String) async throws(StoreError) -> Bool
  ) async throws(StoreError) -> Int {
    var (count, next) = (0, String?.none)
    repeat {
      let page = try await StoreError.accessing { () async throws(S3Error) in
        try await client.list(prefix: prefix, after: next)
      }
      for object in page.objects where object.modifiedAt < limit {
        guard try await isOrphan(object.key) else { continue }
        try await StoreError.accessing { () async throws(S3Error) in try await client.delete(object.key) }
        count += 1
      }
      next = page.next
    } while next != nil
    return count
  }

  private func isOrphan(_ key: String) async throws(StoreError) -> Bool {
    guard let (id, attempt) = ObjectKeys.attempt(ofBytes: key) else { return false }
    guard case .published(_, let named)? = try await states.read(id)?.state.content else { return true }
    return named != attempt
  }

  private func abortUploads(
    _ prefix: String, if isOrphan: (S3MultipartUpload) -> Bool
  ) async throws(StoreError) -> Int {
    try await StoreError.accessing { () async throws(S3Error) in
      var count = 0
      try await client.forEachPageOfUploads(prefix: prefix, before: limit) { uploads throws(S3Error) in
        for upload in uploads where isOrphan(upload) {
          try await client.abort(upload)
          count += 1
        }
      }
      return count
    }
  }
}
