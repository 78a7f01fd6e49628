import Foundation
import SnapshotStore
import SystemIO

/// The local folder for the bytes of uploads that are not in the object store yet, or are read from it.
struct StagingFolder: Sendable {
  let path: String
  /// The free space that uploads may not use, in bytes.
  private let reserve: Int64
  private let onShortage: @Sendable () -> Void
  private let writers: QueueSet

  /// - Parameters:
  ///   - reserve: the free space that uploads may not use, in bytes.
  ///   - writers: write and hash uploads.
  ///   - onShortage: called when there is too little free space. If it frees space, the upload uses that.
  init(
    path: String, reserve: Int64, writers: QueueSet, onShortage: @escaping @Sendable () -> Void
  ) {
    self.path = path
    self.reserve = reserve
    self.onShortage = onShortage
    self.writers = writers
  }

  /// A file for the bytes of an upload, which is created with the first of them.
  func newUpload() -> StagedUpload { StagedUpload(in: path, on: writers.next) }

  /// Throws ``StoreError/outOfSpace`` if `length` more bytes would leave less free space than the reserve.
  func requireSpace(for length: Int64) async throws(StoreError) {
    try await writers.next.perform { [self] () throws(StoreError) in
      try StoreError.disk { () throws(SystemError) in try Folder.create(path) }
      if try hasSpace(for: length) { return }
      onShortage()
      guard try hasSpace(for: length) else { throw .outOfSpace }
    }
  }

  private func hasSpace(for length: Int64) throws(StoreError) -> Bool {
    try StoreError.disk { () throws(SystemError) in try Folder.availableBytes(path) - reserve >= length }
  }

  /// Returns when all files are removed whose removal has begun.
  func settle() async { await writers.settle() }
}
