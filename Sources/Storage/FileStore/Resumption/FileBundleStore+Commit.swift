import Foundation
import Logging
import SnapshotFormat
package import SnapshotStore
import Synchronization
import SystemIO

extension FileBundleStore {
  /// Publishes a whole upload under its final name: its bytes stay where they are on the disk.
  ///
  /// Before the bundle gets its name, the state file says which bytes are about to be published: if they are gone after a
  /// crash, they were published.
  package func commitUpload(
    _ id: UploadID, as attachment: Attachment
  ) async throws(UploadError) -> UploadSession {
    let upload = try uploads[id]
    guard upload.session.isDue else { return upload.session }
    do throws(StoreError) {
      return await end(upload, as: UploadOutcome(try await publish(try await whole(upload), as: attachment)))
    } catch {
      await upload.queue.perform { [self] in
        attempt("remove a staged record") { try Folder.removeIfPresent(layout.path(.record, of: id)) }
      }
      guard let refusal = UploadRefusal(error) else { throw .store(error) }
      return try await refuse(upload, refusal)
    }
  }

  /// The upload with its digest: bytes that were not hashed as they came are read.
  private func whole(_ upload: Resumable) async throws(StoreError) -> WholeUpload {
    let (names, size) = (layout.staged(upload.id), upload.session.offset)
    while true {
      let whole = try await upload.queue.perform { [flusher] () throws(StoreError) -> WholeUpload? in
        do throws(SystemError) {
          let file = try File(names.bundle)
          let digest = try upload.digest.withLock { digest throws(SystemError) in
            if digest.count > size { digest = PrefixDigest() }
            // Other uploads use the same queue: the file is read in slices.
            try digest.catchUp(to: min(size, digest.count + PrefixDigest.sliceSize), of: file)
            return digest
          }
          guard digest.count == size else { return nil }
          try Folder.removeIfPresent(names.record)
          var session = upload.session
          session.beginPublishing(digest.value)
          return WholeUpload(
            names: names, file: file, size: size, sha256: digest.value, arrival: upload.arrival,
            queue: upload.queue, epoch: flusher.epoch, announcement: (upload, session))
        } catch {
          throw StoreError(error)
        }
      }
      if let whole { return whole }
    }
  }

  /// Records that the upload is published. What fails here is repaired at the next start.
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

  /// Records that the upload will never be published; its bytes are removed once that is durable.
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
