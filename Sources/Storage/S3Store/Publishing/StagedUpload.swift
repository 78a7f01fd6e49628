import Foundation
import SnapshotFormat
import SnapshotStore
import Synchronization
import SystemIO

/// The bytes of one upload in a file of the staging folder, written and hashed on one queue in the order in which they
/// arrive.
final class StagedUpload: Sendable {
  /// All bytes of an upload.
  struct Whole: Sendable {
    let file: URL
    let size: Int64
    let sha256: ContentDigest
  }

  private struct State {
    /// Created with the first byte.
    var file: File?
    var size: Int64 = 0
    var digest = DigestComputation()
    var failure: StoreError?
  }

  private let path: String
  private let queue: DispatchQueue
  private let state = Mutex(State())

  init(in folder: String, on queue: DispatchQueue) {
    path = "\(folder)/\(SnapshotID()).zip"
    self.queue = queue
  }

  /// Writes the next bytes. After a failure, every call throws it.
  func append(_ bytes: IOBuffer) async throws(StoreError) {
    try await queue.perform { [self] () throws(StoreError) in
      try state.withLock { state throws(StoreError) in try write(bytes, &state) }
    }
  }

  private func write(_ bytes: IOBuffer, _ state: inout State) throws(StoreError) {
    if let failure = state.failure { throw failure }
    do throws(SystemError) {
      let (contents, file) = (bytes.bytes, try file(&state))
      try file.write(contents, at: state.size)
      state.digest.update(contents)
      state.size += Int64(contents.count)
    } catch {
      let failure = StoreError(error)
      state.failure = failure
      throw failure
    }
  }

  private func file(_ state: inout State) throws(SystemError) -> File {
    if let file = state.file { return file }
    let file = try File(path, .create(mode: 0o600))
    state.file = file
    return file
  }

  /// All bytes. No more can be appended.
  func whole() async throws(StoreError) -> Whole {
    try await queue.perform { [self] () throws(StoreError) in
      try state.withLock { state throws(StoreError) in
        if let failure = state.failure { throw failure }
        do throws(SystemError) { _ = try file(&state) } catch { throw StoreError(error) }
        return Whole(file: URL(filePath: path), size: state.size, sha256: state.digest.digest)
      }
    }
  }

  /// Removes the file asynchronously. A failure is without consequence: the next start removes what remains.
  func remove() {
    queue.async { [self] in
      let hadFile = state.withLock { state in
        state.failure = .notFound
        return state.file.take() != nil
      }
      guard hadFile else { return }
      do throws(SystemError) { try Folder.removeIfPresent(path) } catch {}
    }
  }
}
