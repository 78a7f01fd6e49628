import Dispatch
import Foundation
import Logging
package import SnapshotStore
import Synchronization
import SystemIO

extension FileBundleStore: UploadStore {
  /// How much uploads take on.
  package var uploadLimits: UploadLimits { configuration.uploads }

  /// How far an upload is.
  package func uploadSession(_ id: UploadID) async throws(UploadError) -> UploadSession {
    try uploads[id].session
  }

  /// All uploads.
  package func uploadSessions() async -> [UploadSession] { uploads.sessions }

  /// Opens an upload.
  package func createUpload(_ terms: UploadTerms) async throws(UploadError) -> UploadSession {
    try UploadError.storing { () throws(StoreError) in try committer.requireOpen() }
    try terms.requireFit(uploadLimits)
    let session: UploadSession
    var parts: [UploadID] = []
    if case .joined(_, let ids) = terms.kind {
      guard ids.count <= uploadLimits.parts else { throw .partCount(limit: uploadLimits.parts) }
      parts = ids
      session = try UploadSession(terms, joining: sessions(of: ids), limits: uploadLimits, at: now)
    } else {
      session = try UploadSession(terms, limits: uploadLimits, at: now)
    }
    let upload = Resumable(session, on: writers.next, in: quotaTracker)
    for id in try uploads.add(upload, uploadLimits) {
      do { try await removeUpload(id) } catch { logger.error("An upload could not be forgotten: \(error)") }
    }
    do throws(UploadError) {
      try await open(session, upload, parts)
      upload.show()
      return session
    } catch {
      uploads.remove(session.id)
      await remover.perform { [self] in removeFiles(of: upload) }
      throw error
    }
  }

  /// Lets a request append.
  package func beginAppending(
    _ request: AppendRequest, bytes: Int64?, to id: UploadID
  ) async throws(UploadError) -> any UploadAppending {
    let upload = try uploads[id]
    var session = upload.session
    let append = try session.admit(request, bytes: bytes, limits: uploadLimits, at: now)
    if session.isWhole { return AskingAppend(append, session) }
    return try await UploadError.storing { () async throws(StoreError) in
      if upload.isUncertain { try await save(upload.session, of: upload) }
      let file = try await upload.queue.perform { [self] () throws(StoreError) in
        if let bytes {
          try requireFreeSpace(for: bytes)
          try quotaTracker.requireRoom(for: bytes)
        }
        do throws(SystemError) {
          let file = try File(layout.path(.bytes, of: id), .update)
          try truncate(upload, file)
          // A request whose bytes were written and do not count may have left them in the digest.
          upload.digest.withLock { if $0.count > upload.session.offset { $0 = PrefixDigest() } }
          return file
        } catch {
          throw StoreError(error)
        }
      }
      return ResumableAppending(append, session, to: upload, file, in: self)
    }
  }

  /// Forgets an upload.
  package func removeUpload(_ id: UploadID) async throws(UploadError) {
    let upload = try uploads[id]
    try await UploadError.storing { () async throws(StoreError) in
      try await remover.perform { [self] () throws(StoreError) in
        do throws(SystemError) {
          try faults.before(.forgetUpload)
          try Folder.removeIfPresent(layout.path(.state, of: id))
        } catch {
          throw StoreError(error)
        }
        uploads.remove(id)
        removeFiles(of: upload)
      }
      try await flush([.folder(layout.uploads)], since: flusher.epoch, .flushUpload)
    }
  }

  /// The time of day.
  var now: Date { configuration.validator.now() }

  private func sessions(of parts: [UploadID]) throws(UploadError) -> [UploadSession] {
    var sessions: [UploadSession] = []
    for id in parts {
      do throws(UploadError) { sessions.append(try uploads[id].session) } catch { throw .unusablePart(id) }
    }
    return sessions
  }

  /// Makes the files of an upload, with the bytes of its parts.
  private func open(
    _ session: UploadSession, _ upload: Resumable, _ parts: [UploadID]
  ) async throws(UploadError) {
    let epoch = flusher.epoch
    let queue = parts.isEmpty ? upload.queue : joiner
    let bytes = try await queue.perform { [self] () throws(UploadError) in
      try UploadError.storing { () throws(StoreError) in
        try requireFreeSpace(for: session.length ?? 0)
        try quotaTracker.requireRoom(for: session.length ?? 0)
      }
      let bytes = try UploadError.writing { () throws(SystemError) in
        try faults.before(.openUpload)
        return try File(layout.path(.bytes, of: session.id), .create(mode: 0o600))
      }
      try join(parts, into: upload, bytes)
      return bytes
    }
    try await UploadError.storing { () async throws(StoreError) in
      // What is joined is told to be there from the first: so it has to last before it is.
      if !parts.isEmpty { try await flush([.file(bytes)], since: epoch, .flushPart) }
      let state = try await queue.perform { [self] () throws(StoreError) in
        do throws(SystemError) {
          try faults.before(.writeProgress)
          let state = try File(layout.path(.state, of: session.id), .create(mode: 0o600))
          try UploadFile.write(session, to: state)
          return state
        } catch {
          throw StoreError(error)
        }
      }
      try await flush([.file(state), .file(bytes), .folder(layout.uploads)], since: epoch, .flushUpload)
    }
  }

  /// Copies the bytes of `parts`, one after the other. Blocks.
  private func join(_ parts: [UploadID], into upload: Resumable, _ file: File) throws(UploadError) {
    var end: Int64 = 0
    for id in parts {
      let length = try sessions(of: [id])[0].offset
      let part: File
      do { part = try File(layout.path(.bytes, of: id)) } catch { throw .unusablePart(id) }
      try UploadError.storing { () throws(StoreError) in
        var offset: Int64 = 0
        while offset < length {
          let count = min(1 << 20, length - offset)
          try requireFreeSpace(for: count)
          try upload.arrival.grow(by: count)
          do throws(SystemError) {
            let bytes = IOBuffer(try part.read(upTo: Int(count), at: offset))
            guard bytes.count == Int(count) else {
              throw SystemError(operation: "read", path: part.path, code: POSIXErrorCode.EIO.rawValue)
            }
            try unsafe bytes.withUnsafeBytes { buffer throws(SystemError) in
              try unsafe file.write(buffer, at: end)
            }
            try upload.digest.withLock { digest throws(SystemError) in
              try digest.take(bytes, at: end, of: file)
            }
          } catch {
            throw StoreError(error)
          }
          offset += count
          end += count
        }
      }
    }
  }

  /// Makes how far an upload is last, and takes it over then.
  func save(_ session: UploadSession, of upload: Resumable) async throws(StoreError) {
    let epoch = flusher.epoch
    let file = try await upload.queue.perform { [self] () throws(StoreError) in
      do throws(SystemError) {
        return try upload.write(session, to: layout.path(.state, of: upload.id), faults)
      } catch {
        throw StoreError(error)
      }
    }
    try await flush([.file(file)], since: epoch, .flushProgress)
    upload.adopt(session)
  }

  /// Returns when all of `targets` would survive a power cut.
  func flush(
    _ targets: [Flusher.Target], since epoch: Int, _ step: Step
  ) async throws(StoreError) {
    do throws(SystemError) {
      try faults.before(step)
      try await flusher.flush(targets, since: epoch)
    } catch {
      throw StoreError(error)
    }
  }

  /// Cuts off what is in the file of an upload and does not last. Blocks.
  func truncate(_ upload: Resumable, _ file: File) throws(SystemError) {
    let offset = upload.session.offset
    let excess = try file.size - offset
    guard excess > 0 else { return }
    try file.truncate(to: offset)
    upload.arrival.keepOnly(offset)
  }

  /// Removes what is left of an upload that is forgotten. Blocks.
  func removeFiles(of upload: Resumable) {
    upload.arrival.release()
    attempt("remove an upload") {
      try faults.before(.removePart)
      for part in StorageLayout.UploadPart.allCases {
        try Folder.removeIfPresent(layout.path(part, of: upload.id))
      }
    }
  }
}

/// A request that brings nothing to an upload that has all: it asks what became of it.
private struct AskingAppend: UploadAppending {
  let append: UploadAppend
  let session: UploadSession

  init(_ append: UploadAppend, _ session: UploadSession) {
    self.append = append
    self.session = session
  }

  func write(_ bytes: IOBuffer) async throws(UploadError) {
    var append = append
    try append.receive(bytes.count)
  }

  func checkpoint() async throws(UploadError) -> Int64 { session.offset }
  func end(_ ending: UploadEnding) async throws(UploadError) -> UploadSession { session }
}
