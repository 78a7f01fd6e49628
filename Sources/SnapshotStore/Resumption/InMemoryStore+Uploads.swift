import Foundation
import Synchronization
import SystemIO

/// An upload that lies in memory.
struct InMemoryResumable {
  var session: UploadSession
  var bytes: [UInt8] = []
}

extension InMemoryStore: UploadStore {
  /// Opens an upload.
  public func createUpload(_ terms: UploadTerms) async throws(UploadError) -> UploadSession {
    try uploads.withLock { uploads throws(UploadError) in
      let upload = try open(terms, among: uploads)
      try uploadLimits.requireRoom(for: terms.owner, among: uploads.values.lazy.map(\.session))
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
      return InMemoryResumable(session: try UploadSession(terms, limits: uploadLimits, at: admission.now()))
    }
    var parts: [InMemoryResumable] = []
    for id in ids.prefix(uploadLimits.parts + 1) {
      guard let part = uploads[id] else { throw .unusablePart(id) }
      parts.append(part)
    }
    let session = try UploadSession(
      terms, joining: parts.map(\.session), limits: uploadLimits, at: admission.now())
    return InMemoryResumable(session: session, bytes: parts.flatMap(\.bytes))
  }

  /// How far an upload is.
  public func uploadSession(_ id: UploadID) async throws(UploadError) -> UploadSession {
    try require(id).session
  }

  /// All uploads.
  public func uploadSessions() async -> [UploadSession] { uploads.withLock { $0.values.map(\.session) } }

  /// Lets a request append.
  public func beginAppending(
    _ request: AppendRequest, bytes: Int64?, to id: UploadID
  ) async throws(UploadError) -> any UploadAppending {
    let append = try change(id) { upload throws(UploadError) in
      try upload.session.admit(request, bytes: bytes, limits: uploadLimits, at: admission.now())
    }
    return InMemoryAppending(append, to: id, in: self)
  }

  /// Publishes a whole upload.
  public func commitUpload(_ id: UploadID, as attachment: Attachment) async throws(UploadError)
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
      upload.session.end(outcome, at: admission.now())
      return upload.session
    }
  }

  /// Forgets an upload.
  public func removeUpload(_ id: UploadID) async throws(UploadError) {
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

/// Bytes on their way into an upload that lies in memory.
private final class InMemoryAppending: UploadAppending {
  private struct State {
    var append: UploadAppend
    /// What has come and does not last yet.
    var bytes: [UInt8] = []

    /// Hands over the bytes before `offset`.
    mutating func settle(upTo offset: Int64, in upload: inout InMemoryResumable, at now: Date) {
      let count = Int(offset - upload.session.offset)
      guard count > 0 else { return }
      upload.bytes += bytes.prefix(count)
      bytes.removeFirst(count)
      upload.session.advance(to: offset, at: now)
    }
  }

  private let id: UploadID
  private let store: InMemoryStore
  private let state: Mutex<State>

  init(_ append: UploadAppend, to id: UploadID, in store: InMemoryStore) {
    self.id = id
    self.store = store
    state = Mutex(State(append: append))
  }

  func write(_ bytes: IOBuffer) async throws(UploadError) {
    try state.withLock { state throws(UploadError) in
      try state.append.receive(bytes.count)
      state.bytes += bytes.bytes
    }
  }

  func checkpoint() async throws(UploadError) -> Int64 {
    try store.change(id) { upload in
      state.withLock { $0.settle(upTo: $0.append.countable, in: &upload, at: store.admission.now()) }
      return upload.session.offset
    }
  }

  func end(_ ending: UploadEnding) async throws(UploadError) -> UploadSession {
    try store.change(id) { upload throws(UploadError) in
      try state.withLock { state throws(UploadError) in
        let now = store.admission.now()
        switch ending {
        case .finished:
          state.settle(upTo: state.append.end, in: &upload, at: now)
          try upload.session.finish(state.append, at: now)
        case .broken: state.settle(upTo: state.append.countable, in: &upload, at: now)
        case .discarded: break
        }
      }
      return upload.session
    }
  }
}
