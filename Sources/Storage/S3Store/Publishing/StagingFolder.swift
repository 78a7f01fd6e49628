import Foundation
import SnapshotStore
import SystemIO

/// The local folder for the bytes of uploads that are not in the object store yet, or are read from it.
struct StagingFolder: Sendable {
  let path: String
  /// The free space that uploads may not use, in bytes.
  private let reserve: Int64
  private let writers: QueueSet
  private let count: Int

  /// - Parameters:
  ///   - reserve: the free space that uploads may not use, in bytes.
  ///   - writers: how many uploads are written at once.
  init(path: String, reserve: Int64, writers count: Int) {
    self.path = path
    self.reserve = reserve
    self.count = count
    writers = QueueSet("s3-store.writer", count: count)
  }

  /// A file for the bytes of an upload, which is created with the first of them.
  func newUpload() -> StagedUpload { StagedUpload(in: path, on: writers.next) }

  /// Throws ``StoreError/outOfSpace`` if `length` more bytes would leave less free space than the reserve.
  func requireSpace(for length: Int64) async throws(StoreError) {
    let available = try await writers.next.perform { [path] () throws(StoreError) in
      do throws(SystemError) {
        try Folder.create(path)
        return try Folder.availableBytes(path)
      } catch {
        throw StoreError(error)
      }
    }
    guard length <= available - reserve else { throw .outOfSpace }
  }

  /// Returns when all files are removed whose removal has begun.
  func settle() async {
    for _ in 0..<count { await writers.next.perform {} }
  }
}
