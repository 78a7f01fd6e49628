import SnapshotStore
import Synchronization
import SystemIO

/// The bytes of one request on their way into an upload of a ``FileBundleStore``.
///
/// What came is written behind what lasts, and cut off again where it does not count in the end.
final class ResumableAppending: UploadAppending {
  /// After how many bytes the system is told to begin writing them out, so that making them last takes no longer.
  private static let writeOutSize: Int64 = 4 << 20

  private struct State {
    /// Ahead of the one that lasts by what the request said of the length.
    var session: UploadSession
    var append: UploadAppend
    /// From before the first byte that does not last.
    var epoch: Int
    /// How much the system was told to write out.
    var writtenOut: Int64
    /// A flush failed: nobody knows what there is of the bytes that came since the last.
    var isLost = false
  }

  private let upload: Resumable
  private let store: FileBundleStore
  private let file: File
  private let digestAtStart: PrefixDigest
  private let state: Mutex<State>

  init(
    _ append: UploadAppend, _ session: UploadSession, to upload: Resumable, _ file: File,
    in store: FileBundleStore
  ) {
    self.upload = upload
    self.store = store
    self.file = file
    digestAtStart = upload.digest.withLock { $0 }
    state = Mutex(
      State(session: session, append: append, epoch: store.flusher.epoch, writtenOut: append.start))
  }

  func write(_ bytes: IOBuffer) async throws(UploadError) {
    let offset = try state.withLock { state throws(UploadError) in
      var append = state.append
      try append.receive(bytes.count)
      return state.append.end
    }
    let count = Int64(bytes.count)
    try await UploadError.storing { () async throws(StoreError) in
      try await upload.queue.perform { [self] () throws(StoreError) in
        try store.requireFreeSpace(for: count)
        try upload.arrival.grow(by: count)
        do throws(SystemError) {
          try unsafe bytes.withUnsafeBytes { buffer throws(SystemError) in
            try unsafe file.write(buffer, at: offset)
          }
          try upload.digest.withLock { digest throws(SystemError) in
            try digest.take(bytes, at: offset, of: file)
          }
        } catch {
          upload.arrival.shrink(by: count)
          throw StoreError(error)
        }
      }
    }
    try state.withLock { state throws(UploadError) in
      try state.append.receive(bytes.count)
      if state.append.end - state.writtenOut >= Self.writeOutSize {
        file.beginWriting(state.writtenOut..<state.append.end)
        state.writtenOut = state.append.end
      }
    }
  }

  func checkpoint() async throws(UploadError) -> Int64 {
    try await keep(state.withLock { $0.append.countable }).offset
  }

  func end(_ ending: UploadEnding) async throws(UploadError) -> UploadSession {
    do throws(UploadError) {
      let (isLost, append) = state.withLock { ($0.isLost, $0.append) }
      var session = upload.session
      var failure: UploadError?
      switch ending {
      case .finished where !isLost:
        session = try await keep(append.end) { session in
          do throws(UploadError) { try session.finish(append, at: store.now) } catch { failure = error }
        }
      case .broken where !isLost: session = try await keep(append.countable)
      default: break
      }
      await cut()
      if let failure { throw failure }
      return session
    } catch {
      await cut()
      throw error
    }
  }

  /// Makes the bytes before `offset` last, and then that they are there, with what `change` makes of it.
  private func keep(
    _ offset: Int64, _ change: (inout UploadSession) -> Void = { _ in }
  ) async throws(UploadError) -> UploadSession {
    let lasting = upload.session
    var (session, epoch) = state.withLock { state in
      defer { state.epoch = store.flusher.epoch }
      return (state.session, state.epoch)
    }
    if offset > lasting.offset {
      do throws(StoreError) {
        try await store.flush([.file(file)], since: epoch, .flushPart)
      } catch {
        state.withLock { $0.isLost = true }
        throw .store(error)
      }
    }
    session.advance(to: offset, at: store.now)
    change(&session)
    guard session != lasting else { return lasting }
    try await UploadError.storing { () async throws(StoreError) in try await store.save(session, of: upload) }
    let saved = session
    state.withLock { $0.session = saved }
    return saved
  }

  /// Removes the bytes that came and do not count.
  private func cut() async {
    let end = state.withLock { $0.append.end }
    let lasting = upload.session
    if end == lasting.offset || lasting.isWhole { return }
    await upload.queue.perform { [self] in
      // Where nobody knows what the file says of them, they may be needed after a crash.
      guard !upload.isUncertain else { return }
      store.attempt("cut off what does not count of an upload") { try store.truncate(upload, file) }
      if upload.digest.withLock({ $0.count }) > lasting.offset {
        upload.digest.withLock { $0 = digestAtStart.count <= lasting.offset ? digestAtStart : PrefixDigest() }
      }
    }
  }
}
