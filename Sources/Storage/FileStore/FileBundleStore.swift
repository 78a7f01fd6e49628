import Dispatch
import Foundation
package import Logging
package import SnapshotFormat
package import SnapshotStore
import SystemIO

/// Stores bundles as files below one folder. The files are authoritative, and a copy of the folder is a backup.
///
///     bundles/3f/3f2b…c1.zip       a bundle: never changed, mode 0440
///     bundles/3f/3f2b…c1.json      its record
///     bundles/3f/3f2b…c1.new       the record of a bundle that is being published
///     bundles/3f/3f2b…c1.damaged   replaces the .zip of a bundle that was found damaged
///     bundles/3f/3f2b…c1.deleted   replaces all files of a deleted bundle: its record at first, then an empty tombstone
///     uploads/…                    bundles that are still arriving
///     uploads/….upload             the progress of a resumable upload: kept across restarts, like its bytes
///     uploads/….part               the bytes of a resumable upload
///     set-aside/…                  bundles that were found without a record
///     lock                         locked, like the folder itself, by the one server that uses the folder
///     clean                        exists if the last server closed the folder cleanly, until the next change
///
/// A bundle is staged in `uploads/` and hashed while it arrives. Then it is checked, its record is written beside it,
/// and both are flushed and renamed without overwriting: the record to `.new`, the bundle to `.zip`, and the record to
/// `.json`. The upload is answered once the folder is flushed too. After a crash at any point, the next start either finds
/// the whole bundle or removes its remains. A `.json` states that its bundle was published: if the `.zip` is missing later,
/// the bundle is lost, which is reported, and its bytes can be uploaded again.
///
/// Opening a store takes the same time whatever it contains. After ``close()`` the file `clean` has all that the next
/// store needs to know. After a crash, each shard is repaired before its first use, and all others in the background.
///
/// If only the structure was checked before the answer, the checksums are verified afterwards, in slices and the
/// shortest check first; the next start resumes checks that were not done. A bundle that is found damaged is set aside
/// at once.
package final class FileBundleStore: BundleStore, UploadStore {
  /// The limits of uploads.
  package let uploadLimits: UploadLimits
  let folder: StorageFolder
  let uploads: FileUploads
  let verification: LateVerification
  let recovery: Recovery
  private let committer: Committer
  private let changes: BundleChanges
  private let scan: RecordScan
  private let queues: ServerQueues
  private let remover: DispatchQueue
  private let writeProbe: WriteProbe
  private let lock: Lock<StorageLock?>
  /// The clean stop that this store was opened after, if it was.
  private let formerStop: CleanStop?
  private let recovering = Lock<Task<Void, Never>?>(nil)

  /// Opens and locks the storage folder, creating it if it is missing, and starts to repair it after a crash.
  ///
  /// All files are created with access for the server's own user only (0700, 0600). Throws ``OpeningError``.
  /// - Parameter faults: hooks of a test.
  package static func open(
    _ configuration: Configuration, logger: Logger, faults: FaultInjection = FaultInjection()
  ) async throws(OpeningError) -> FileBundleStore {
    return try await configuration.queues.readers.next.perform { () throws(OpeningError) in
      let opened = try OpenedFolder(configuration, faults: faults)
      let layout = opened.layout
      do throws(SystemError) {
        let flusher = try makeFlusher(configuration)
        let committer = Committer(
          layout, faults: faults, folders: Set(opened.shards.map(layout.folder)), flusher: flusher
        ) { () throws(SystemError) in try CleanStop.remove(layout) }
        let folder = StorageFolder(
          layout, faults: faults, logger: logger, flusher: flusher,
          quotaTracker: QuotaTracker(opened.stop?.usage ?? StoreUsage(), quota: configuration.quota),
          reserve: configuration.reserve, onShortage: configuration.onShortage)
        return FileBundleStore(configuration, folder, committer, opened)
      } catch {
        throw .system(error)
      }
    }
  }

  private static func makeFlusher(_ configuration: Configuration) throws(SystemError) -> Flusher {
    // `uploads/` and `bundles/` are on one file system, since bundles are renamed from one to the other.
    guard configuration.sharesFlushes,
      let volume = try Volume.holding(StorageLayout(root: configuration.path).uploads)
    else {
      return Flusher(on: configuration.queues.flushers, onFlush: configuration.onFlush, flushAll: nil)
    }
    return Flusher(on: configuration.queues.flushers, onFlush: configuration.onFlush) {
      () throws(SystemError) in
      try volume.synchronize()
    }
  }

  private init(
    _ configuration: Configuration, _ folder: StorageFolder, _ committer: Committer, _ opened: OpenedFolder
  ) {
    let validator = configuration.validator
    uploadLimits = configuration.uploads
    self.folder = folder
    lock = Lock(opened.lock)
    self.committer = committer
    formerStop = opened.stop
    let queues = configuration.queues
    self.queues = queues
    let table = ResumableTable()
    let names = opened.uploads
    let recovery = Recovery(opened.damagedParts, of: folder, on: queues) {
      (requireOpen) throws(SystemError) in
      let sessions = try UploadRecovery(layout: folder.layout, logger: folder.logger, names: names)
        .run(requireOpen)
      table.restore(sessions.map { Resumable($0, on: queues.writers.next, in: folder) })
    }
    self.recovery = recovery
    remover = queues.background.next
    writeProbe = WriteProbe(of: folder, on: queues.flushers.next)
    scan = RecordScan(folder, on: queues, validate: validator.recheck)
    changes = BundleChanges(folder, committer: committer, readers: queues.readers, remover: remover)
    verification = LateVerification(
      folder, committer: committer, changes: changes, on: BackgroundQueue(), validate: validator.recheck,
      onVerification: configuration.onVerification)
    let publisher = Publisher(
      folder, committer: committer, changes: changes, verification: verification, validator: validator,
      recovery: recovery, checks: CheckQueue(on: queues.checkers))
    uploads = FileUploads(
      table, in: folder, by: publisher, recovery: recovery, limits: configuration.uploads, queues: queues,
      remover: remover, now: validator.now)
    verification.start()
    for id in opened.stop?.pending ?? [] { verification.add(id) }
    recovering.withLock { $0 = recover(opened) }
  }

  /// Repairs all parts that no operation has needed yet, and resumes the verification of checksums.
  private func recover(_ opened: OpenedFolder) -> Task<Void, Never> {
    let resumes = opened.stop?.pending == nil
    return Task(priority: .background) { [weak recovery, weak verification, logger = folder.logger] in
      var parts = resumes ? [.uploads] + opened.shards.map(Recovery.Part.shard) : [.uploads]
      while !parts.isEmpty {
        var failed: [Recovery.Part] = []
        for part in parts {
          guard !Task.isCancelled, let recovery else { return }
          if let failure = await recovery.repairInBackground(part) {
            if Task.isCancelled { return }
            logger.error("A part of the storage can't be repaired", metadata: ["error": "\(failure)"])
            failed.append(part)
          } else if resumes, case .shard(let shard) = part {
            verification?.resume(shard)
          }
        }
        parts = failed
        // The task is cancelled when the store is closed.
        if !parts.isEmpty { do { try await Task.sleep(for: Self.repairInterval) } catch { return } }
      }
      verification?.endResumption()
    }
  }

  /// The pause before parts that could not be repaired are tried again.
  private static let repairInterval = Duration.seconds(10)

  /// Returns when the storage is repaired and its uploads are restored, or the store is closed.
  package func recovered() async { await recovering.withLock { $0 }?.value }

  /// Completes the waiting commits, stops verifying checksums, and unlocks the folder for another server.
  ///
  /// Uploads that are still arriving can't be committed afterwards. Do not use the store after this call.
  /// - Returns: the seal of the storage, if it was left cleanly.
  @discardableResult
  package func close() async -> Int64? {
    await recovery.close(ending: recovering.withLock { $0.take() })
    await verification.close()
    await committer.close()
    let seal = await remover.perform { [self] in
      defer { folder.layout.closeFiles() }
      do { return try makeCleanStop() } catch {
        folder.logger.error("The storage can't be left cleanly", metadata: ["error": "\(error)"])
        return nil
      }
    }
    let held = lock.withLock { $0.take() }
    do {
      try held?.release()
    } catch {
      folder.logger.error("The storage's lock can't be released: \(error)")
    }
    return seal
  }

  /// Writes the file `clean`, unless it is still there or the storage has to be repaired.
  private func makeCleanStop() throws(SystemError) -> Int64? {
    if let formerStop, !committer.hasChanged { return formerStop.seal }
    // After a loss, the next start has to report it too.
    guard recovery.remainingShards == 0, !folder.needsRepair, folder.lossCount == 0 else { return nil }
    try folder.flushRemovals()
    let stop = try CleanStop(folder, pending: verification.unverifiedBundles)
    try stop.write(folder.layout)
    return stop.seal
  }

  /// The seal with which the last store closed the folder; `nil` if it did not, or if `bundles/` was changed since.
  package var seal: Int64? { formerStop?.seal }

  /// The number of shards that are still to be repaired after a crash. Until it is 0, ``usage`` lacks their bundles.
  package var remainingRepairs: Int { recovery.remainingShards }

  /// The number of waiting items, by kind: flushes, changes of names and verifications of checksums.
  package var waiting: [String: Int] {
    let changes = committer.waiting
    return [
      // The flusher's callers include the changes of names.
      "flush": max(folder.flusher.waiting - changes, 0), "commit": changes,
      "verification": verification.waiting,
    ]
  }

  /// The number and total size of the stored bundles, and the number of those that are lost.
  package var usage: StoreUsage {
    var usage = folder.quotaTracker.kept
    usage.lost = folder.lossCount
    return usage
  }

  /// The reason why the store can accept no bundle at the moment; `nil` if it can.
  package func fault() async -> StorageFault? { await writeProbe.fault() }

  /// The most bytes that stored bundles and arriving uploads may have together; `nil` means no limit. A change applies
  /// to bytes that arrive afterwards.
  package var quota: Int64? {
    get { folder.quotaTracker.quota }
    set { folder.quotaTracker.quota = newValue }
  }

  // MARK: Bundles

  /// The record of a bundle.
  package func record(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord {
    let layout = folder.layout
    if let record = layout.recentRecord(id) { return record }
    try await recovery.require(id)
    return try await queues.readers.next.perform { () throws(StoreError) in try layout.record(id) }
  }

  /// Opens a bundle for reading.
  package func open(_ id: SnapshotID) async throws(StoreError) -> StoredBundle {
    let layout = folder.layout
    if let bundle = layout.openRecent(id) { return bundle }
    try await recovery.require(id)
    return try await queues.readers.next.perform { [verification] () throws(StoreError) in
      do throws(StoreError) {
        return try layout.open(id)
      } catch {
        if case .damaged = error { verification.setAsideLater(id) }
        throw error
      }
    }
  }

  /// Opens a bundle for reading if its record is visible.
  package func open(
    _ id: SnapshotID, if isVisible: @Sendable (SnapshotRecord) -> Bool
  ) async throws(StoreError) -> StoredBundle {
    if let bundle = folder.layout.openRecent(id) {
      guard isVisible(bundle.record) else { throw .notFound }
      return bundle
    }
    guard isVisible(try await record(id)) else { throw .notFound }
    return try await open(id)
  }

  /// Opens a bundle for reading, with its record as stored in the file.
  package func openAnew(_ id: SnapshotID) async throws(StoreError) -> StoredBundle {
    try await recovery.require(id)
    do {
      let bundle = try await scan.openAnew(id)
      await verification.recordFound(bundle.record)
      return bundle
    } catch {
      if case .damaged = error {
        await queues.readers.next.perform { [verification] in verification.setAsideLater(id) }
      }
      throw error
    }
  }

  /// Removes a bundle and its record permanently. An empty file remains as the tombstone.
  package func delete(_ id: SnapshotID) async throws(StoreError) {
    try await recovery.require(id)
    try await changes.delete(id)
  }

  /// Removes a bundle and its record permanently if the record satisfies `condition`.
  package func delete(
    _ id: SnapshotID, if condition: @escaping @Sendable (SnapshotRecord) -> Bool
  ) async throws(StoreError) -> Bool {
    try await recovery.require(id)
    return try await changes.delete(id, if: condition)
  }

  /// Changes a record.
  @discardableResult
  package func change(_ change: RecordChange, of id: SnapshotID) async throws(StoreError) -> SnapshotRecord {
    try await recovery.require(id)
    return try await changes.change(change, of: id)
  }

  /// Takes a bundle out of use.
  @discardableResult
  package func setAside(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord {
    try await recovery.require(id)
    return try await changes.setAside(id)
  }

  /// The ids of all bundles in one shard.
  package func ids(in shard: SnapshotShard) async throws(StoreError) -> [SnapshotID] {
    try await recovery.require(.shard(shard))
    return try await scan.ids(in: shard)
  }

  /// The records of those of `ids` that exist, each with its identifiers. A record that can't be read is omitted and
  /// logged.
  package func records(_ ids: [SnapshotID]) async throws(StoreError) -> [SnapshotRecord] {
    try await recovery.require(ids)
    return await scan.records(ids)
  }

  /// The retention summaries of those of `ids` that exist. A record that can't be read is omitted and logged.
  package func summaries(_ ids: [SnapshotID]) async throws(StoreError) -> [RetentionSummary] {
    try await recovery.require(ids)
    return await scan.summaries(ids)
  }

  // MARK: Uploads

  /// Begins a transient upload.
  package func beginTransientUpload(
    _ terms: UploadTerms, limit: Int64, expecting length: Int64?
  ) async throws(UploadError) -> any TransientUpload {
    try await uploads.beginTransient(terms, limit: limit, expecting: length)
  }

  /// Creates an upload.
  package func createUpload(_ terms: UploadTerms) async throws(UploadError) -> UploadSession {
    try await uploads.create(terms)
  }

  /// The session of an upload.
  package func uploadSession(_ id: UploadID) async throws(UploadError) -> UploadSession {
    try await uploads.session(of: id)
  }

  /// All uploads.
  package func uploadSessions() async -> [UploadSession] { await uploads.sessions }

  /// Begins a request that appends to an upload.
  package func beginAppending(
    _ request: AppendRequest, bytes: Int64?, to id: UploadID
  ) async throws(UploadError) -> any UploadAppending {
    try await uploads.beginAppending(request, bytes: bytes, to: id)
  }

  /// Publishes a whole upload under its final name. Its bytes are not copied.
  package func commitUpload(
    _ id: UploadID, as attachment: Attachment
  ) async throws(UploadError) -> UploadSession {
    try await uploads.commit(id, as: attachment)
  }

  /// Removes an upload.
  package func removeUpload(_ id: UploadID) async throws(UploadError) { try await uploads.remove(id) }
}
