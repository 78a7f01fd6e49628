import Foundation
import SnapshotStore
import SystemIO

/// A transient upload into an ``S3BundleStore``.
final class S3TransientUpload: TransientUpload {
  private let staged: StagedUpload
  private let publisher: S3Publisher
  private let now: @Sendable () -> Date
  private let state: Lock<TransientUploadState>

  init(
    _ state: TransientUploadState, _ staged: StagedUpload, by publisher: S3Publisher,
    now: @escaping @Sendable () -> Date
  ) {
    self.staged = staged
    self.publisher = publisher
    self.now = now
    self.state = Lock(state)
  }

  func write(_ bytes: IOBuffer) async throws(UploadError) {
    try state.withLock { state throws(UploadError) in try state.receive(bytes.count) }
    try await UploadError.storing { () async throws(StoreError) in try await staged.append(bytes) }
  }

  /// Nothing is durable before the upload is published.
  func checkpoint() async throws(UploadError) -> Int64 { 0 }

  func end(_ ending: UploadEnding) async throws(UploadError) -> UploadSession {
    if ending == .finished {
      return try state.withLock { state throws(UploadError) in try state.finish(at: now()) }
    }
    let session = try state.withLock { state throws(UploadError) in try state.discard() }
    staged.remove()
    return session
  }

  func commit(_ attachment: Attachment) async throws(StoreError) -> Publication {
    try state.withLock { state throws(StoreError) in try state.commit(at: now()) }
    do {
      return try await publisher.publish(staged, as: attachment, isAdmitted: true)
    } catch {
      staged.remove()
      throw error
    }
  }
}
