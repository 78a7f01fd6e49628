import Foundation
import S3Client
import SnapshotFormat
import SnapshotStore
import SystemIO

/// Stores the mark of the clock as an object, for all servers. The clock of the storage is that of the object store.
struct S3ClockMarks: ClockMarkStore {
  private static let maximumLength = 1024

  let client: S3Client

  func load() async throws -> ClockMark? {
    do {
      let (bytes, _) = try await client.get(ObjectKeys.clock, limit: Self.maximumLength)
      // As for an object that was deleted, the newest record shows whether the clock is right.
      do { return try SnapshotJSON.decode(ClockMark.self, from: bytes) } catch { return nil }
    } catch {
      if error.isNotFound { return nil }
      throw StoreError(error)
    }
  }

  func save(_ mark: ClockMark) async throws -> Date {
    let body = try SnapshotJSON.encode(mark)
    return try await StoreError.accessing { () async throws(S3Error) in
      try await client.put(ObjectKeys.clock, S3Body(body))
      let page = try await client.list(prefix: ObjectKeys.clock, limit: 1)
      guard let object = page.objects.first, object.key == ObjectKeys.clock else {
        throw .malformedAnswer("an object is missing in a list")
      }
      return object.modifiedAt
    }
  }
}
