import Dispatch
import Foundation
import Logging
import SnapshotStore
import SystemIO

/// The uploads of a ``FileBundleStore``: starts transient uploads, and keeps the table of resumable ones.
final class FileUploads: Sendable {
  /// The most bytes of a short upload: about a millisecond of writing and hashing.
  static let shortLength: Int64 = 1 << 20

  /// Each upload uses one of the queues that write uploads.
  let queues: ServerQueues
  /// Copies the bytes of parts into a joined upload.
  private let joiner: DispatchQueue
  private let remover: DispatchQueue
  private let folder: StorageFolder
  private let publisher: Publisher
  private let limits: UploadLimits
  private let now: @Sendable () -> Date
  private let table: ResumableTable
  private let recovery: Recovery

  /// - Parameters:
  ///   - table: the resumable uploads, complete once ``Recovery/Part/uploads`` is repaired.
  ///   - remover: removes files; no upload waits for it.
  init(
    _ table: ResumableTable, in folder: StorageFolder, by publisher: Publisher, recovery: Recovery,
    limits: UploadLimits, queues: ServerQueues, remover: DispatchQueue, now: @escaping @Sendable () -> Date
  ) {
    self.folder = folder
    self.publisher = publisher
    self.limits = limits
    self.remover = remover
    self.now = now
    self.queues = queues
    joiner = queues.background.next
    self.table = table
    self.recovery = recovery
  }

  private var layout: StorageLayout { folder.layout }

  // MARK: One request

  /// Begins a transient upload.
  func beginTransient(
    _ terms: UploadTerms, limit: Int64, expecting length: Int64?
  ) async throws(UploadError) -> FileTransientUpload {
    let isShort = length.map { $0 <= Self.shortLength } ?? false
    let writer = (isShort ? queues.shortWriters : queues.writers).next
    try await UploadError.storing { () async throws(StoreError) in
      try publisher.requireOpen()
      try await requireCounted()
      guard let length else { return }
      try folder.quotaTracker.requireRoom(for: length)
      // The first write checks the space as well. For a short upload, that is soon enough.
      guard !isShort else { return }
      try await writer.perform { [folder] () throws(StoreError) in try folder.requireFreeSpace(for: length) }
    }
    let state = try TransientUploadState(terms, limit: limit, limits: limits, at: now())
    let epoch = folder.flusher.epoch
    let bytes = ArrivingBytes(layout.newStaged(), on: writer, in: folder, isTransient: true)
    return FileTransientUpload(state, bytes, since: epoch, by: publisher, now: now)
  }

  // MARK: Several requests

  /// The session of an upload.
  func session(of id: UploadID) async throws(UploadError) -> UploadSession {
    try await requireRecovered()
    return try table[id].session
  }

  /// The sessions of all resumable uploads.
  var sessions: [UploadSession] {
    get async {
      do { try await requireRecovered() } catch {
        folder.logger.error("The uploads can't be recovered", metadata: ["error": "\(error)"])
      }
      return table.sessions
    }
  }

  /// Returns when the uploads of the last run are in the table.
  private func requireRecovered() async throws(UploadError) {
    try await UploadError.storing { () async throws(StoreError) in try await recovery.require(.uploads) }
  }

  /// Returns when all bundles and uploads are counted, if there is a quota.
  private func requireCounted() async throws(StoreError) {
    if folder.quotaTracker.quota != nil { try await recovery.requireAll() }
  }

  /// Creates an upload.
  func create(_ terms: UploadTerms) async throws(UploadError) -> UploadSession {
    try UploadError.storing { () throws(StoreError) in try publisher.requireOpen() }
    try await requireRecovered()
    try await UploadError.storing { () async throws(StoreError) in try await requireCounted() }
    try terms.requireFit(limits)
    let session: UploadSession
    var parts: [UploadID] = []
    if case .joined(_, let ids) = terms.kind {
      guard ids.count <= limits.parts else { throw .partCount(limit: limits.parts) }
      parts = ids
      session = try UploadSession(terms, joining: sessions(of: ids), limits: limits, at: now())
    } else {
      session = try UploadSession(terms, limits: limits, at: now())
    }
    let upload = Resumable(session, on: queues.writers.next, in: folder)
    for id in try table.add(upload, limits) {
      do {
        try await remove(id)
      } catch {
        folder.logger.error("An old upload could not be removed: \(error)")
      }
    }
    do {
      try await open(session, upload, parts)
      upload.show()
      return session
    } catch {
      table.remove(session.id)
      await remover.perform { [self] in removeFiles(of: upload) }
      throw error
    }
  }

  /// Begins a request that appends to an upload.
  func beginAppending(
    _ request: AppendRequest, bytes: Int64?, to id: UploadID
  ) async throws(UploadError) -> any UploadAppending {
    try await requireRecovered()
    let upload = try table[id]
    var session = upload.session
    let append = try session.admit(request, bytes: bytes, limits: limits)
    if session.isWhole { return OutcomeRequest(append, to: session) }
    return try await UploadError.storing { () async throws(StoreError) in
      try await requireCounted()
      if upload.isUncertain { try await upload.save(upload.session) }
      let file = try await upload.bytes.queue.perform { [folder] () throws(StoreError) in
        if let bytes {
          try folder.requireFreeSpace(for: bytes)
          try folder.quotaTracker.requireRoom(for: bytes)
        }
        return try StoreError.disk { () throws(SystemError) in
          return try upload.bytes.open(at: upload.session.offset)
        }
      }
      return ResumableAppending(append, session, to: upload, file, in: folder, now: now)
    }
  }

  /// Removes an upload.
  func remove(_ id: UploadID) async throws(UploadError) {
    try await requireRecovered()
    let upload = try table[id]
    try await UploadError.storing { () async throws(StoreError) in
      try await remover.perform { [self] () throws(StoreError) in
        try StoreError.disk { () throws(SystemError) in
          try folder.faults.before(.forgetUpload)
          try Folder.removeIfPresent(layout.path(.state, of: id))
        }
        table.remove(id)
        removeFiles(of: upload)
      }
      try await folder.flush([.folder(layout.uploads)], since: folder.flusher.epoch, .flushUpload)
    }
  }

  private func sessions(of parts: [UploadID]) throws(UploadError) -> [UploadSession] {
    var sessions: [UploadSession] = []
    for id in parts {
      do throws(UploadError) { sessions.append(try table[id].session) } catch { throw .unusablePart(id) }
    }
    return sessions
  }

  /// Creates the files of an upload, and copies the bytes of its parts.
  private func open(
    _ session: UploadSession, _ upload: Resumable, _ parts: [UploadID]
  ) async throws(UploadError) {
    let epoch = folder.flusher.epoch
    let queue = parts.isEmpty ? upload.bytes.queue : joiner
    defer { upload.bytes.close() }
    let bytes = try await queue.perform { [self] () throws(UploadError) in
      try UploadError.storing { () throws(StoreError) in
        try folder.requireFreeSpace(for: session.length ?? 0)
        try folder.quotaTracker.requireRoom(for: session.length ?? 0)
      }
      let bytes = try UploadError.writing { () throws(SystemError) in
        try folder.faults.before(.openUpload)
        return try upload.bytes.create()
      }
      try join(parts, into: upload)
      return bytes
    }
    try await UploadError.storing { () async throws(StoreError) in
      // A joined upload reports all of its bytes from the start, so they must be durable before the session is.
      if !parts.isEmpty { try await folder.flush([.file(bytes)], since: epoch, .flushPart) }
      let state = try await queue.perform { [folder] () throws(StoreError) in
        return try StoreError.disk { () throws(SystemError) in
          try folder.faults.before(.writeProgress)
          let state = try File(folder.layout.path(.state, of: session.id), .create(mode: 0o600))
          try UploadFile.write(session, to: state)
          return state
        }
      }
      try await folder.flush(
        [.file(state), .file(bytes), .folder(layout.uploads)], since: epoch, .flushUpload)
    }
  }

  /// Copies the bytes of `parts` in order. Blocks.
  private func join(_ parts: [UploadID], into upload: Resumable) throws(UploadError) {
    for id in parts {
      let length = try sessions(of: [id])[0].offset
      let part: File
      do { part = try File(layout.path(.bytes, of: id)) } catch { throw .unusablePart(id) }
      try UploadError.storing { () throws(StoreError) in
        var offset: Int64 = 0
        while offset < length {
          let count = min(1 << 20, length - offset)
          let bytes = try StoreError.disk { () throws(SystemError) in
            let bytes = IOBuffer(try part.read(upTo: Int(count), at: offset))
            guard bytes.count == Int(count) else {
              throw SystemError(operation: "read", path: part.path, code: POSIXErrorCode.EIO.rawValue)
            }
            return bytes
          }
          try upload.bytes.write(bytes)
          offset += count
        }
      }
    }
  }

  /// Removes the files of an upload that was removed from the table. Blocks.
  private func removeFiles(of upload: Resumable) {
    upload.bytes.arrival.release()
    folder.attempt("remove an upload") {
      try folder.faults.before(.removePart)
      for part in StorageLayout.UploadPart.allCases {
        try Folder.removeIfPresent(layout.path(part, of: upload.id))
      }
    }
  }

  // MARK: Publication

  /// Publishes a whole upload under its final name. Its bytes are not copied.
  ///
  /// Before the bundle is moved to its final name, the digest is stored in the state file. If the bytes are gone after
  /// a crash, recovery looks for a bundle with that digest.
  func commit(_ id: UploadID, as attachment: Attachment) async throws(UploadError) -> UploadSession {
    try await requireRecovered()
    let upload = try table[id]
    guard upload.session.isDue else { return upload.session }
    do {
      let publication = try await publisher.publish(
        try await whole(upload), as: attachment, on: upload.bytes.queue)
      return await end(upload, as: UploadOutcome(publication))
    } catch {
      await upload.bytes.queue.perform { [folder] in
        folder.attempt("remove a staged record") {
          try Folder.removeIfPresent(folder.layout.path(.record, of: id))
        }
      }
      guard let refusal = UploadRefusal(error) else { throw .store(error) }
      return try await refuse(upload, refusal)
    }
  }

  /// The upload with its digest. Bytes that were not hashed on arrival are read.
  private func whole(_ upload: Resumable) async throws(StoreError) -> WholeUpload {
    let (bytes, size) = (upload.bytes, upload.session.offset)
    while true {
      let whole = try await bytes.queue.perform { [folder] () throws(StoreError) -> WholeUpload? in
        return try StoreError.disk { () throws(SystemError) in
          let file = try File(bytes.names.bundle)
          guard let sha256 = try bytes.digest(of: size, in: file) else { return nil }
          try Folder.removeIfPresent(bytes.names.record)
          return WholeUpload(
            names: bytes.names, file: file, size: size, sha256: sha256, arrival: bytes.arrival,
            epoch: folder.flusher.epoch, resumable: upload)
        }
      }
      if let whole { return whole }
    }
  }

  /// Records that the upload is published. If this fails, the next start repairs it.
  private func end(_ upload: Resumable, as outcome: UploadOutcome) async -> UploadSession {
    upload.bytes.arrival.release()
    var session = upload.session
    session.end(outcome, at: now())
    do {
      try await upload.save(session)
    } catch {
      folder.logger.error(
        "The publication of an upload can't be recorded", metadata: ["error": "\(error)"])
      upload.adopt(session)
    }
    return session
  }

  /// Records that the upload was refused permanently. Its bytes are removed once that is durable.
  private func refuse(
    _ upload: Resumable, _ refusal: UploadRefusal
  ) async throws(UploadError) -> UploadSession {
    var session = upload.session
    session.end(.refused(refusal), at: now())
    do { try await upload.save(session) } catch { throw .store(error) }
    upload.bytes.arrival.release()
    await remover.perform { [folder] in
      folder.attempt("remove a refused upload") {
        try folder.faults.before(.removePart)
        try upload.bytes.names.remove()
      }
    }
    return session
  }
}
