import Dispatch
import Foundation
package import Logging
package import SnapshotFormat
package import SnapshotStore
import Synchronization
import SystemIO

/// Keeps bundles as files below one folder; the files are the truth, and a copy of the folder is a backup.
///
///     bundles/3f/3f2b…c1.zip       a bundle: never changed, mode 0440
///     bundles/3f/3f2b…c1.json      its record
///     bundles/3f/3f2b…c1.damaged   in the bundle's place once its bytes were found damaged
///     bundles/3f/3f2b…c1.deleted   in the place of all once they are deleted: empty
///     uploads/…                    what is still arriving
///     uploads/….upload             how far an upload is that may be resumed: outlives the server, as do
///     uploads/….part               its bytes
///     set-aside/…                  bundles that were found without a record
///     lock                         held by the one server that uses the folder, as is the folder itself
///
/// A bundle is staged in `uploads/` and hashed while it arrives, checked, its record written beside it, both
/// flushed and then given their final names without overwriting, the record first and the bundle last; when the
/// folder is flushed too, the upload is answered. Whatever happens on the way, the next start finds the bundle
/// whole or removes what there is of it.
///
/// Where only the structure was checked before the answer, the checksums are checked afterwards, in slices and the
/// shortest check first; what was not reached is taken up after the next start. A bundle that is found damaged is set
/// aside at once.
package final class FileBundleStore: BundleStore {
  let configuration: Configuration
  let layout: StorageLayout
  let faults: FaultInjection
  let logger: Logger
  let committer: Committer
  /// The longest upload that is short, in bytes: a millisecond of writing and hashing.
  static let shortLength: Int64 = 1 << 20
  /// Write and hash what arrives; an upload stays on one of them.
  let writers: QueueSet
  /// Write and hash short uploads, which wait for no long one.
  let shortWriters: QueueSet
  /// Makes what arrived last.
  let flusher: Flusher
  /// Checks bundles before the answer.
  let checks = CheckQueue()
  let readers = QueueSet("file-store.reader", count: 2)
  /// Removes what is deleted: a large file takes its time, for which no commit should wait.
  let remover = DispatchQueue(label: "file-store.remover")
  /// Copies the parts that an upload is joined from.
  let joiner = DispatchQueue(label: "file-store.joiner", qos: .utility)
  /// Reads every record for the catalogue: one after the other, so that readers of bundles find a free queue.
  let scanner = DispatchQueue(label: "file-store.scanner", qos: .utility)
  /// Reads every record for those who look after the store: nobody waits for them.
  let keeper = BackgroundQueue()
  let scrubber: BackgroundQueue
  /// Checks bundles after the answer.
  let lateChecks: CheckQueue
  let quotaTracker: QuotaTracker
  /// Finds out whether anything can be written.
  let writeProbe: WriteProbe
  /// Uploads that may be resumed.
  let uploads: ResumableTable
  /// Bundles whose checksums were looked at, with what was found.
  let verdicts: (stream: AsyncStream<SnapshotRecord>, continuation: AsyncStream<SnapshotRecord>.Continuation)
  private let settling = Mutex<Task<Void, Never>?>(nil)
  private let lock: Mutex<StorageLock?>

  /// Takes the storage folder for itself, making it when it is missing, and puts right what a crash left.
  ///
  /// Everything is made for the server's own user alone (0700, 0600).
  package static func open(
    _ configuration: Configuration, logger: Logger
  ) async throws(OpeningError) -> FileBundleStore {
    try await open(configuration, logger: logger, faults: FaultInjection())
  }

  static func open(
    _ configuration: Configuration, logger: Logger, faults: FaultInjection
  ) async throws(OpeningError) -> FileBundleStore {
    let queue = DispatchQueue(label: "file-store.opening")
    let opened = try await queue.perform { () throws(OpeningError) -> FileBundleStore? in
      let layout = StorageLayout(root: configuration.path)
      do throws(SystemError) {
        try Recovery.prepare(layout)
        guard let lock = try StorageLock(layout) else { return nil }
        let (folders, usage) = try Recovery(layout: layout, logger: logger).run()
        let uploads = try UploadRecovery(layout: layout, logger: logger).run()
        let committer = Committer(
          layout, faults: faults, folders: folders, flusher: try makeFlusher(configuration))
        let flusher = try makeFlusher(configuration)
        let quotaTracker = QuotaTracker(usage, quota: configuration.quota)
        return FileBundleStore(
          configuration, layout, faults, logger, lock, committer, flusher, quotaTracker, uploads)
      } catch {
        throw .system(error)
      }
    }
    guard let store = opened else { throw .inUse(path: configuration.path) }
    store.settling.withLock { $0 = store.settleVerdicts() }
    store.resumeVerification()
    return store
  }

  private static func makeFlusher(_ configuration: Configuration) throws(SystemError) -> Flusher {
    // Each has a volume of its own, since a volume tells of a failure once. Bundles are renamed from `uploads/`: both
    // are on one file system, wherever the folder above them is.
    guard configuration.sharesFlushes,
      let volume = try Volume.holding(StorageLayout(root: configuration.path).uploads)
    else {
      return Flusher(count: configuration.flushers, onFlush: configuration.onFlush, flushAll: nil)
    }
    return Flusher(count: configuration.flushers, onFlush: configuration.onFlush) { () throws(SystemError) in
      try volume.synchronize()
    }
  }

  private init(
    _ configuration: Configuration, _ layout: StorageLayout, _ faults: FaultInjection, _ logger: Logger,
    _ lock: StorageLock,
    _ committer: Committer, _ flusher: Flusher, _ quotaTracker: QuotaTracker,
    _ recovered: [UploadRecovery.Found]
  ) {
    self.configuration = configuration
    self.layout = layout
    self.faults = faults
    self.logger = logger
    self.lock = Mutex(lock)
    self.committer = committer
    self.flusher = flusher
    self.quotaTracker = quotaTracker
    writeProbe = Self.makeWriteProbe(configuration, layout, faults)
    let writers = QueueSet("file-store.writer", count: configuration.writers)
    self.writers = writers
    shortWriters = QueueSet("file-store.short-writer", count: configuration.writers)
    uploads = ResumableTable(
      recovered.map { Resumable($0, on: writers.next, in: quotaTracker) })
    verdicts = AsyncStream.makeStream()
    let scrubber = BackgroundQueue()
    self.scrubber = scrubber
    lateChecks = CheckQueue([CheckQueue.Worker { scrubber.async($0) }])
  }

  deinit { verdicts.continuation.finish() }

  /// Finishes the commits that wait, stops looking at checksums, and frees the folder for another server.
  ///
  /// Uploads that are still arriving can't be committed any more; nothing may be asked of the store afterwards.
  package func close() async {
    let task = settling.withLock { $0.take() }
    task?.cancel()
    await task?.value
    lateChecks.removeAll()
    await flusher.close()
    await committer.close()
    await remover.perform {}
    layout.closeFiles()
    let held = lock.withLock { $0.take() }
    do { try held?.release() } catch { logger.error("The storage's lock can't be given back: \(error)") }
  }

  /// How much waits, by what for: flushes of the disk, changes of names, checksums to look at.
  package var waiting: [String: Int] {
    ["flush": flusher.waiting, "commit": committer.waiting, "verification": lateChecks.waiting]
  }

  /// How much is kept.
  package var usage: StoreUsage { quotaTracker.kept }

  /// Begins to take a bundle in.
  package func beginUpload(expecting length: Int64?) async throws(StoreError) -> any BundleUpload {
    try committer.requireOpen()
    let isShort = length.map { $0 <= Self.shortLength } ?? false
    let writer = (isShort ? shortWriters : writers).next
    if let length {
      try quotaTracker.requireRoom(for: length)
      // An upload that is gathered before it is written is all there before the refusal could be: its write finds out.
      if length > FileUpload.gatheredSize {
        try await writer.perform { [self] () throws(StoreError) in try requireFreeSpace(for: length) }
      }
    }
    return FileUpload(StagedUpload(in: layout.uploads, flusher: flusher), on: writer, in: self)
  }

  /// Throws where so many bytes more would leave less of the disk than the reserve. Blocks.
  func requireFreeSpace(for count: Int64) throws(StoreError) {
    let available: Int64
    do { available = try faults.availableBytes(layout.root) } catch { throw StoreError(error) }
    guard available - count >= configuration.reserve else { throw .outOfSpace }
  }

  /// The record of a bundle.
  package func record(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord {
    if let record = layout.recentRecord(id) { return record }
    return try await readers.next.perform { [layout] () throws(StoreError) in try layout.record(id) }
  }

  /// A bundle, open for reading.
  package func open(_ id: SnapshotID) async throws(StoreError) -> StoredBundle {
    if let bundle = layout.openRecent(id) { return bundle }
    return try await readers.next.perform { [self] () throws(StoreError) in
      do throws(StoreError) {
        return try layout.open(id)
      } catch {
        if case .damaged = error { setAsideLater(id) }
        throw error
      }
    }
  }

  /// A bundle, open for reading, with its record as the file has it.
  package func openAnew(_ id: SnapshotID) async throws(StoreError) -> StoredBundle {
    try await keeper.perform { [layout] () throws(StoreError) in
      do throws(StoreError) {
        return try layout.open(id, anew: true)
      } catch {
        layout.forget(id)
        throw error
      }
    }
  }
}
