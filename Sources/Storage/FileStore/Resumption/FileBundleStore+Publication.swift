import Foundation
import Logging
import SnapshotFormat
public import SnapshotStore
import Synchronization
import SystemIO

extension FileBundleStore {
  /// Publishes a whole upload under its final name: its bytes stay where they are on the disk.
  ///
  /// Before the bundle has its name, the upload says which bytes it is about to be: so that after a crash its absence
  /// tells that it is published.
  public func commitUpload(
    _ id: UploadID, as attachment: Attachment
  ) async throws(UploadError) -> UploadSession {
    let upload = try uploads[id]
    guard upload.session.isDue else { return upload.session }
    do throws(StoreError) {
      let (record, bytes) = try await admit(upload, attachment)
      try await stage(upload, record, bytes)
      let publication = try await publish(
        layout.staged(id), upload.arrival, as: record, createOnly: attachment.createOnly)
      return await end(upload, as: UploadOutcome(publication))
    } catch {
      await upload.queue.perform { [self] in
        attempt("remove a staged record") { try Folder.removeIfPresent(layout.path(.record, of: id)) }
      }
      guard let refusal = UploadRefusal(error) else { throw .store(error) }
      return try await refuse(upload, refusal)
    }
  }

  /// Checks what arrived.
  private func admit(
    _ upload: Resumable, _ attachment: Attachment
  ) async throws(StoreError) -> (SnapshotRecord, [UInt8]) {
    let (path, size) = (layout.path(.bytes, of: upload.id), upload.session.offset)
    let sha256 = try await digest(of: upload, path, size)
    let record = try await admit(path, size: size, sha256: sha256, as: attachment)
    do throws(SystemError) { return (record, try RecordFile.encode(record)) } catch {
      throw StoreError(error)
    }
  }

  /// The digest of all bytes of an upload; where not all were hashed as they came, the rest is read in slices, since
  /// other uploads use the same queue.
  private func digest(
    of upload: Resumable, _ path: String, _ size: Int64
  ) async throws(StoreError) -> ContentDigest {
    while true {
      let digest = try await upload.queue.perform { () throws(StoreError) -> ContentDigest? in
        do throws(SystemError) {
          return try upload.digest.withLock { digest throws(SystemError) in
            guard digest.count < size else { return digest.value }
            try digest.catchUp(to: min(size, digest.count + PrefixDigest.sliceSize), of: File(path))
            return digest.count < size ? nil : digest.value
          }
        } catch {
          throw StoreError(error)
        }
      }
      if let digest { return digest }
    }
  }

  /// Writes the record, and of what digest the bytes are that are about to be published.
  private func stage(
    _ upload: Resumable, _ record: SnapshotRecord, _ bytes: [UInt8]
  ) async throws(StoreError) {
    var session = upload.session
    session.beginPublishing(record.sha256)
    let (staged, publishing) = (layout.staged(upload.id), session)
    let epoch = flusher.epoch
    let files = try await upload.queue.perform { [self] () throws(StoreError) in
      do throws(SystemError) {
        try faults.before(.writeRecord)
        try Folder.removeIfPresent(staged.record)
        let record = try File(staged.record, .create(mode: 0o600))
        try record.write(bytes, at: 0)
        let bundle = try File(staged.bundle)
        try bundle.setMode(0o440)
        let state = try upload.write(publishing, to: layout.path(.state, of: upload.id), faults)
        return [Flusher.Target.file(record), .file(bundle), .file(state)]
      } catch {
        throw StoreError(error)
      }
    }
    try await flush(files, since: epoch, .flushFiles)
    upload.adopt(session)
  }

  /// It is published: whatever fails from here on is made up for after the next start.
  private func end(_ upload: Resumable, as outcome: UploadOutcome) async -> UploadSession {
    upload.arrival.release()
    var session = upload.session
    session.end(outcome, at: now)
    do throws(StoreError) {
      try await save(session, of: upload)
    } catch {
      logger.error("It can't be written down that an upload is published", metadata: ["error": "\(error)"])
      upload.adopt(session)
    }
    return session
  }

  /// It never will be published: only when that lasts do its bytes go.
  private func refuse(_ upload: Resumable, _ refusal: UploadRefusal) async throws(UploadError)
    -> UploadSession
  {
    var session = upload.session
    session.end(.refused(refusal), at: now)
    do throws(StoreError) { try await save(session, of: upload) } catch { throw .store(error) }
    upload.arrival.release()
    await remover.perform { [self] in
      attempt("remove a refused upload") {
        try faults.before(.removePart)
        try layout.staged(upload.id).remove()
      }
    }
    return session
  }
}
