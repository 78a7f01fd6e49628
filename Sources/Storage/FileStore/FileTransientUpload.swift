import Foundation
import SnapshotFormat
import SnapshotStore
import Synchronization
import SystemIO

/// A transient upload into a ``FileBundleStore``: a session with a single append, which is never written to disk.
final class FileTransientUpload: TransientUpload {
  private struct State {
    /// `nil` once the upload has ended.
    var session: UploadSession?
    var append: UploadAppend

    /// Ends the request: the upload now has all of its bytes.
    mutating func finish(at now: Date) throws(UploadError) -> UploadSession {
      guard var session else { throw .store(.notFound) }
      session.advance(to: append.end, at: now)
      try session.finish(append, at: now)
      self.session = session
      return session
    }
  }

  private let bytes: ArrivingBytes
  private let publisher: Publisher
  private let now: @Sendable () -> Date
  /// The flusher's epoch before the first byte was written.
  private let epoch: Int
  private let state: Mutex<State>

  init(
    _ session: UploadSession, _ append: UploadAppend, _ bytes: ArrivingBytes, since epoch: Int,
    by publisher: Publisher, now: @escaping @Sendable () -> Date
  ) {
    self.bytes = bytes
    self.publisher = publisher
    self.now = now
    self.epoch = epoch
    state = Mutex(State(session: session, append: append))
  }

  deinit {
    if state.withLock({ $0.session != nil }) { bytes.removeLater() }
  }

  func write(_ piece: IOBuffer) async throws(UploadError) {
    try UploadError.storing { () throws(StoreError) in try bytes.requireNoFailure() }
    try state.withLock { state throws(UploadError) in
      guard state.session != nil else { throw .store(.notFound) }
      try state.append.receive(piece.count)
    }
    try await UploadError.storing { () async throws(StoreError) in try await bytes.append(piece) }
  }

  /// Nothing is durable before the upload is published.
  func checkpoint() async throws(UploadError) -> Int64 { 0 }

  func end(_ ending: UploadEnding) async throws(UploadError) -> UploadSession {
    if ending == .finished {
      return try state.withLock { state throws(UploadError) in try state.finish(at: now()) }
    }
    guard let session = state.withLock({ $0.session.take() }) else { throw .store(.notFound) }
    await bytes.remove()
    return session
  }

  func commit(_ attachment: Attachment) async throws(StoreError) -> Publication {
    try bytes.requireNoFailure()
    try state.withLock { state throws(StoreError) in
      guard state.session != nil else { throw .notFound }
      defer { state.session = nil }
      // The request completes its upload and states no length, so the length can't be inconsistent.
      do throws(UploadError) { _ = try state.finish(at: now()) } catch { throw .notFound }
    }
    do throws(StoreError) {
      return try await publisher.publish(attachment, from: bytes.queue) { () throws(StoreError) in
        try bytes.whole(since: epoch)
      }
    } catch {
      await bytes.remove()
      throw error
    }
  }
}
