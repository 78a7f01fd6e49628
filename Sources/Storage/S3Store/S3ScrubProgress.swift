import Foundation
import S3Client
import SnapshotStore

/// Stores the progress of a scrub as an object, so that any server can continue it.
struct S3ScrubProgress: ScrubProgressStore {
  let client: S3Client

  func load() async throws -> ScrubProgress? {
    do {
      let (bytes, _) = try await client.get(ObjectKeys.scrubbed, limit: ScrubProgress.maximumLength)
      return ScrubProgress(String(decoding: bytes, as: UTF8.self))
    } catch {
      if error.isNotFound { return nil }
      throw StoreError(error)
    }
  }

  func save(_ progress: ScrubProgress) async throws {
    try await StoreError.accessing { () async throws(S3Error) in
      _ = try await client.put(ObjectKeys.scrubbed, S3Body(Data(progress.description.utf8)))
    }
  }
}
