import Foundation
import SnapshotStore
import SystemIO

/// A request that appends to a resumable upload of a ``FileBundleStore``.
///
/// Bytes are written behind the durable ones, and truncated at the end of the request if they do not count.
final class ResumableAppending: UploadAppending {
  private struct State {
    /// Like the durable session, but with the length that the request stated.
    var session: UploadSession
    /// Counts the bytes received; the last of them may not be written yet.
    var append: UploadAppend
    /// The flusher's epoch before the first byte that is not durable.
    var epoch: Int
    /// The failure of a flush. It is then unknown which bytes since the last flush are on the disk.
    var loss: StoreError?
  }

  private let upload: Resumable
  private let folder: StorageFolder
  private let file: File
  private let now: @Sendable () -> Date
  private let state: Lock<State>

  /// - Parameter file: the file that holds the bytes of `upload`, opened for this request.
  init(
    _ append: UploadAppend, _ session: UploadSession, to upload: Resumable, _ file: File,
    in folder: StorageFolder, now: @escaping @Sendable () -> Date
  ) {
    self.upload = upload
    self.folder = folder
    self.file = file
    self.now = now
    state = Lock(State(session: session, append: append, epoch: folder.flusher.epoch))
  }

  func write(_ bytes: IOBuffer) async throws(UploadError) {
    try UploadError.storing { () throws(StoreError) in try upload.bytes.requireNoFailure() }
    try state.withLock { state throws(UploadError) in try state.append.receive(bytes.count) }
    try await UploadError.storing { () async throws(StoreError) in try await upload.bytes.append(bytes) }
  }

  func checkpoint() async throws(UploadError) -> Int64 {
    let written = await upload.bytes.settle()
    if let failure = written.failure { throw .store(failure) }
    return try await keep(min(state.withLock { $0.append.countable }, written.end)).offset
  }

  func end(_ ending: UploadEnding) async throws(UploadError) -> UploadSession {
    do {
      let session = try await conclude(ending)
      await cut()
      return session
    } catch {
      await cut()
      throw error
    }
  }

  /// Makes the bytes durable that count with this ending.
  private func conclude(_ ending: UploadEnding) async throws(UploadError) -> UploadSession {
    if ending == .discarded { return upload.session }
    let written = await upload.bytes.settle()
    let (loss, append) = state.withLock { ($0.loss, $0.append) }
    if ending == .finished, loss == nil, written.failure == nil {
      var failure: UploadError?
      let session = try await keep(append.end) { session in
        do throws(UploadError) { try session.finish(append, at: now()) } catch { failure = error }
      }
      if let failure { throw failure }
      return session
    }
    var session = upload.session
    if loss == nil, !written.isLost { session = try await keep(min(append.countable, written.end)) }
    if ending == .finished, let failure = loss ?? written.failure { throw .store(failure) }
    return session
  }

  /// Makes the bytes before `offset` durable, and then the session that contains them and the result of `change`.
  private func keep(
    _ offset: Int64, _ change: (inout UploadSession) -> Void = { _ in }
  ) async throws(UploadError) -> UploadSession {
    let durable = upload.session
    var (session, epoch) = state.withLock { state in
      defer { state.epoch = folder.flusher.epoch }
      return (state.session, state.epoch)
    }
    if offset > durable.offset {
      do {
        try await folder.flush([.file(file)], since: epoch, .flushPart)
      } catch {
        state.withLock { $0.loss = error }
        throw .store(error)
      }
    }
    session.advance(to: offset, at: now())
    change(&session)
    guard session != durable else { return durable }
    try await UploadError.storing { () async throws(StoreError) in try await upload.save(session) }
    let saved = session
    state.withLock { $0.session = saved }
    return saved
  }

  /// Removes the received bytes that do not count.
  private func cut() async {
    defer { upload.bytes.close() }
    let end = state.withLock { $0.append.end }
    let durable = upload.session
    if end == durable.offset || durable.isWhole { return }
    await upload.bytes.queue.perform { [self] in
      // If the state file may already count these bytes, recovery needs them after a crash.
      guard !upload.isUncertain else { return }
      folder.attempt("truncate an upload to its durable bytes") {
        try upload.bytes.cut(file, to: durable.offset)
      }
    }
  }
}
