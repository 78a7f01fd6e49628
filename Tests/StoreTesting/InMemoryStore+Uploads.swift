package import SnapshotStore
import Foundation
import SystemIO

/// A resumable upload in memory.
struct InMemoryResumable {
  var session: UploadSession
  var bytes: [UInt8] = []
}

extension InMemoryStore: UploadStore {
  /// Begins a transient upload.
  package func beginTransientUpload(
    _ terms: UploadTerms, limit: Int64, expecting length: Int64?
  ) async throws(UploadError) -> any TransientUpload {
    let state = try TransientUploadState(terms, limit: limit, limits: uploadLimits, at: validator.now())
    return InMemoryTransientUpload(state, in: self)
  }

  /// Creates an upload.
  package func createUpload(_ terms: UploadTerms) async throws(UploadError) -> UploadSession {
    try uploads.withLock { uploads throws(UploadError) in
      let upload = try open(terms, among: uploads)
      try uploadLimits.requireRoom(for: terms, among: uploads.values.lazy.map(\.session))
      for id in uploadLimits.forgotten(among: uploads.values.lazy.map(\.session)) { uploads[id] = nil }
      uploads[upload.session.id] = upload
      return upload.session
    }
  }

  private func open(
    _ terms: UploadTerms, among uploads: [UploadID: InMemoryResumable]
  ) throws(UploadError) -> InMemoryResumable {
    try terms.requireFit(uploadLimits)
    guard case .joined(_, let ids) = terms.kind else {
      return InMemoryResumable(session: try UploadSession(terms, limits: uploadLimits, at: validator.now()))
    }
    var parts: [InMemoryResumable] = []
    for id in ids.prefix(uploadLimits.parts + 1) {
      guard let part = uploads[id] else { throw .unusablePart(id) }
      parts.append(part)
    }
    let session = try UploadSession(
      terms, joining: parts.map(\.session), limits: uploadLimits, at: validator.now())
    return InMemoryResumable(session: session, bytes: parts.flatMap(\.bytes))
  }

  /// The session of an upload.
  package func uploadSession(_ id: UploadID) async throws(UploadError) -> UploadSession {
    try require(id).session
  }

  /// All uploads.
  package func uploadSessions() async -> [UploadSession] { uploads.withLock { $0.values.map(\.session) } }

  /// Begins a request that appends to an upload.
  package func beginAppending(
    _ request: AppendRequest, bytes: Int64?, to id: UploadID
  ) async throws(UploadError) -> any UploadAppending {
    var session = try require(id).session
    let append = try session.admit(request, bytes: bytes, limits: uploadLimits)
    return InMemoryAppending(append, session, in: self)
  }

  /// Publishes a whole upload.
  package func commitUpload(_ id: UploadID, as attachment: Attachment) async throws(UploadError)
    -> UploadSession
  {
    let upload = try require(id)
    guard upload.session.isDue else { return upload.session }
    let outcome: UploadOutcome
    do throws(StoreError) {
      let publication = try await queue.perform { () throws(StoreError) in
        try self.publish(upload.bytes, as: attachment)
      }
      outcome = UploadOutcome(publication)
    } catch {
      guard let refusal = UploadRefusal(error) else { throw .store(error) }
      outcome = .refused(refusal)
    }
    return try change(id) { upload in
      upload.bytes = []
      upload.session.end(outcome, at: validator.now())
      return upload.session
    }
  }

  /// Removes an upload.
  package func removeUpload(_ id: UploadID) async throws(UploadError) {
    guard uploads.withLock({ $0.removeValue(forKey: id) }) != nil else { throw .unknown }
  }

  fileprivate func change<Value>(
    _ id: UploadID, _ body: (inout InMemoryResumable) throws(UploadError) -> Value
  ) throws(UploadError) -> Value {
    try uploads.withLock { uploads throws(UploadError) in
      guard var upload = uploads[id] else { throw .unknown }
      defer { uploads[id] = upload }
      return try body(&upload)
    }
  }

  private func require(_ id: UploadID) throws(UploadError) -> InMemoryResumable {
    guard let upload = uploads.withLock({ $0[id] }) else { throw .unknown }
    return upload
  }
}

/// A request that appends to an upload in memory.
private final class InMemoryAppending: UploadAppending {
  private struct State {
    /// Like the stored session, but with the length that the request stated.
    var session: UploadSession
    var append: UploadAppend
    /// Bytes that were received and are not stored in the upload yet.
    var bytes: [UInt8] = []

    /// Stores the bytes before `offset` in the upload.
    mutating func settle(upTo offset: Int64, in upload: inout InMemoryResumable, at now: Date) {
      let count = Int(max(offset - session.offset, 0))
      upload.bytes += bytes.prefix(count)
      bytes.removeFirst(count)
      session.advance(to: offset, at: now)
      upload.session = session
    }
  }

  private let store: InMemoryStore
  private let state: Lock<State>

  init(_ append: UploadAppend, _ session: UploadSession, in store: InMemoryStore) {
    self.store = store
    state = Lock(State(session: session, append: append))
  }

  func write(_ bytes: IOBuffer) async throws(UploadError) {
    try state.withLock { state throws(UploadError) in
      try state.append.receive(bytes.count)
      state.bytes += bytes.bytes
    }
  }

  func checkpoint() async throws(UploadError) -> Int64 {
    try settle { $0.countable }.offset
  }

  func end(_ ending: UploadEnding) async throws(UploadError) -> UploadSession {
    switch ending {
    case .finished:
      let (append, now) = (state.withLock { $0.append }, store.validator.now())
      let id = try settle { $0.end }.id
      return try store.change(id) { upload throws(UploadError) in
        try upload.session.finish(append, at: now)
        return upload.session
      }
    case .broken: return try settle { $0.countable }
    case .discarded: return try await store.uploadSession(state.withLock { $0.session.id })
    }
  }

  private func settle(upTo offset: (UploadAppend) -> Int64) throws(UploadError) -> UploadSession {
    try state.withLock { state throws(UploadError) in
      try store.change(state.session.id) { upload in
        state.settle(upTo: offset(state.append), in: &upload, at: store.validator.now())
        return upload.session
      }
    }
  }
}

/// A transient upload in memory.
private final class InMemoryTransientUpload: TransientUpload {
  private let store: InMemoryStore
  private let state: Lock<(upload: TransientUploadState, bytes: [UInt8])>

  init(_ upload: TransientUploadState, in store: InMemoryStore) {
    self.store = store
    state = Lock((upload, []))
  }

  func write(_ bytes: IOBuffer) async throws(UploadError) {
    try state.withLock { state throws(UploadError) in
      try state.upload.receive(bytes.count)
      state.bytes += bytes.bytes
    }
  }

  func checkpoint() async throws(UploadError) -> Int64 { 0 }

  func end(_ ending: UploadEnding) async throws(UploadError) -> UploadSession {
    let now = store.validator.now()
    return try state.withLock { state throws(UploadError) in
      if ending == .finished { return try state.upload.finish(at: now) }
      state.bytes = []
      return try state.upload.discard()
    }
  }

  func commit(_ attachment: Attachment) async throws(StoreError) -> Publication {
    let now = store.validator.now()
    let bytes = try state.withLock { state throws(StoreError) in
      defer { state.bytes = [] }
      try state.upload.commit(at: now)
      return state.bytes
    }
    return try await store.queue.perform { [store] () throws(StoreError) in
      try store.publish(bytes, as: attachment)
    }
  }
}
