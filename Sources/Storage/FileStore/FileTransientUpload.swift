import Foundation
import SnapshotFormat
import SnapshotStore
import SystemIO

/// A transient upload into a ``FileBundleStore``: a session with a single append, which is never written to disk.
final class FileTransientUpload: TransientUpload {
  private let bytes: ArrivingBytes
  private let publisher: Publisher
  private let now: @Sendable () -> Date
  /// The flusher's epoch before the first byte was written.
  private let epoch: Int
  private let state: Lock<TransientUploadState>

  init(
    _ state: TransientUploadState, _ bytes: ArrivingBytes, since epoch: Int, by publisher: Publisher,
    now: @escaping @Sendable () -> Date
  ) {
    self.bytes = bytes
    self.publisher = publisher
    self.now = now
    self.epoch = epoch
    self.state = Lock(state)
  }

  deinit {
    if state.withLock({ $0.isOpen }) { bytes.removeLater() }
  }

  func write(_ piece: IOBuffer) async throws(UploadError) {
    try UploadError.storing { () throws(StoreError) in try bytes.requireNoFailure() }
    try state.withLock { state throws(UploadError) in try state.receive(piece.count) }
    try await UploadError.storing { () async throws(StoreError) in try await bytes.append(piece) }
  }

  /// Nothing is durable before the upload is published.
  func checkpoint() async throws(UploadError) -> Int64 { 0 }

  func end(_ ending: UploadEnding) async throws(UploadError) -> UploadSession {
    if ending == .finished {
      return try state.withLock { state throws(UploadError) in try state.finish(at: now()) }
    }
    let session = try state.withLock { state throws(UploadError) in try state.discard() }
    await bytes.remove()
    return session
  }

  func commit(_ attachment: Attachment) async throws(StoreError) -> Publication {
    try bytes.requireNoFailure()
    try state.withLock { state throws(StoreError) in try state.commit(at: now()) }
    do {
      let whole = try await bytes.queue.perform { [bytes, epoch] () throws(StoreError) in
        try bytes.whole(since: epoch)
      }
      return try await publisher.publish(whole, as: attachment, on: bytes.queue)
    } catch {
      await bytes.remove()
      throw error
    }
  }
}
