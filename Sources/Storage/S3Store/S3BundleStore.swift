package import Foundation
import HTTPClient
package import Logging
package import S3Client
package import SnapshotFormat
package import SnapshotStore
import SystemIO

/// Stores bundles in an object store that several servers share. Any of them can end at any moment.
///
///     records/3f/3f2b…c1           a record, which names the bytes of its bundle; later the tombstone
///     bytes/3f/3f2b…c1/09ab…       the bytes of one attempt to publish a bundle: never changed
///     uploads/72c4…                the bytes of a resumable upload that is not published: see ``UploadRow``
///     unindexed/72c4…              says that all records have to be compared with the catalogue: see ``S3ChangeMarks``
///     scrubbed                     how far the verification of all bundles has come: see ``S3ScrubProgress``
///     migration.json               exists while snapshots are copied into the store: see ``MigrationMark``
///     proof/…                      exists for a moment at the start: see ``/S3Client/S3ConditionalWriter``
///
/// A bundle is staged in a local folder and hashed while it arrives. Then it is checked, and its bytes are written under
/// a new key. It is published by one write of its record, on the condition that there is none. A record is changed on
/// the condition that it is still the one that was read. So no server needs a lock, and none keeps anything that another
/// one lacks. Bytes that nothing names are removed by ``sweep()`` after a day.
///
/// Resumable uploads need what an object store lacks: a row that is changed often, and by one server at a time. Their rows
/// are in a database. Nothing else is, so the loss of the database loses unfinished uploads only.
package final class S3BundleStore: BundleStore, UploadStore {
  /// The limits of uploads.
  package let uploadLimits: UploadLimits
  /// Finds the changes that the catalogue lacks, if the configuration has intents.
  package let journal: ChangeJournal?
  /// Stores how far the regular verification of all bundles has come.
  package var scrubProgress: any ScrubProgressStore { S3ScrubProgress(client: client) }
  /// Stores the mark of the clock by which is deleted.
  package var clockMarks: any ClockMarkStore { S3ClockMarks(client: client) }
  let configuration: Configuration
  let client: S3Client
  private let probe: S3Client
  let logger: Logger
  let states: SnapshotStates
  let cache: BundleCache
  private let publisher: S3Publisher
  private let verification: LateVerification
  private let rows: any UploadRows
  private let uploads: S3Uploads
  private let staging: StagingFolder
  private let lock: File

  /// Proves that the object store honours the conditions of writes, and empties the local folder.
  ///
  /// Throws ``OpeningError``. Only one store can use a local folder at a time; any number can use an object store.
  /// - Parameters:
  ///   - configuration: the settings.
  ///   - client: the object store.
  ///   - rows: the resumable uploads, which all servers with this object store share.
  ///   - logger: receives failures that no caller receives.
  package static func open(
    _ configuration: Configuration, client: S3Client, rows: any UploadRows, logger: Logger
  ) async throws(OpeningError) -> S3BundleStore {
    let folder = configuration.folder
    let lock = try await configuration.queues.readers.next.perform { () throws(OpeningError) in
      do throws(SystemError) { return try prepare(folder) } catch { throw .system(error) }
    }
    guard let lock else { throw .inUse(path: folder) }
    let isMigrating: Bool
    do { isMigrating = try await MigrationMark.exists(in: client) } catch {
      throw OpeningError(error, at: client.configuration)
    }
    guard !isMigrating else { throw .migrating }
    do {
      let writer = try await S3ConditionalWriter.proving(client, scratch: ObjectKeys.proof)
      return S3BundleStore(configuration, client, rows, writer, lock, logger)
    } catch {
      throw OpeningError(error, at: client.configuration)
    }
  }

  /// Locks the folder, and removes the remains of the last server. `nil` if another server uses the folder.
  private static func prepare(_ folder: String) throws(SystemError) -> File? {
    try Folder.create(folder)
    let lock = try File(folder + "/lock", .openOrCreate(mode: 0o600))
    guard try lock.tryLock() else { return nil }
    for name in try Folder.entries(folder) where name.hasSuffix(".zip") || name.hasSuffix(".download") {
      try Folder.removeIfPresent("\(folder)/\(name)")
    }
    return lock
  }

  private init(
    _ configuration: Configuration, _ client: S3Client, _ rows: any UploadRows,
    _ writer: S3ConditionalWriter, _ lock: File, _ logger: Logger
  ) {
    self.configuration = configuration
    self.client = client
    self.logger = logger
    self.lock = lock
    uploadLimits = configuration.uploads
    probe = client.changing {
      $0.retries.attempts = 1
      $0.timeouts.total = S3StoreLimits.probeSeconds
    }
    journal = configuration.intents.map {
      ChangeJournal($0, marks: S3ChangeMarks(client: client), limits: configuration.journal, logger: logger)
    }
    states = SnapshotStates(client: client, writer: writer, journal: journal)
    cache = BundleCache(
      client: client, folder: configuration.folder, on: configuration.queues.readers,
      limit: configuration.cacheBytes,
      onRead: configuration.onRead)
    verification = LateVerification(
      states, on: configuration.queues.maintenance, validate: configuration.validator.recheck, logger: logger,
      onVerification: configuration.onVerification)
    publisher = S3Publisher(
      client: client, states: states, validator: configuration.validator, verification: verification,
      checks: CheckQueue(on: configuration.queues.checkers), logger: logger)
    staging = StagingFolder(
      path: configuration.folder, reserve: configuration.reserve, writers: configuration.queues.writers
    ) { [cache, onShortage = configuration.onShortage] in
      cache.removeAll()
      onShortage()
    }
    self.rows = rows
    uploads = S3Uploads(
      rows,
      leases: UploadLeases(
        rows: rows, duration: configuration.uploadLease, sleep: client.environment.sleep),
      objects: UploadObjects(
        client: client,
        partBytes: max(configuration.partBytes, configuration.uploads.length / S3StoreLimits.parts),
        logger: logger),
      publisher: publisher, folder: staging, limits: configuration.uploads, now: configuration.validator.now,
      logger: logger)
  }

  /// Completes the running checks of bundles, and unlocks the local folder. Do not use the store after this call.
  package func close() async {
    await verification.close()
    uploads.close()
    await staging.settle()
    do { try lock.unlock() } catch {
      logger.error("The lock of the local folder can't be released", metadata: ["error": "\(error)"])
    }
  }

  // MARK: Health

  /// The reason why the object store can't be used at the moment; `nil` if it can.
  package func fault() async -> StorageFault? {
    do {
      _ = try await probe.list(prefix: ObjectKeys.proof, limit: 1)
      return nil
    } catch {
      logger.error("The object store fails", metadata: ["error": "\(error)"])
      if case .transport = error { return .notAnswering }
      return .failing
    }
  }

  // MARK: Changing

  /// Removes a bundle and its record permanently. The record is replaced by the tombstone.
  package func delete(_ id: SnapshotID) async throws(StoreError) { _ = try await delete(id) { _ in true } }

  /// Removes a bundle and its record permanently if the record satisfies `condition`.
  package func delete(
    _ id: SnapshotID, if condition: @escaping @Sendable (SnapshotRecord) -> Bool
  ) async throws(StoreError) -> Bool {
    var isDeleted = false
    let (_, attempt) = try await states.change(id) { (record, _) throws(StoreError) in
      isDeleted = condition(record)
      return isDeleted ? .write(.deleted) : .keep
    }
    guard isDeleted else { return false }
    let key = ObjectKeys.bytes(id, attempt: attempt)
    cache.forget(key)
    // The tombstone is durable: if the removal fails, the sweep repeats it.
    do { try await client.delete(key) } catch {
      logger.warning(
        "The bytes of a deleted bundle can't be removed yet", metadata: ["id": "\(id)", "error": "\(error)"])
    }
    return true
  }

  /// Changes a record. A bundle that was set aside remains so.
  @discardableResult
  package func change(_ change: RecordChange, of id: SnapshotID) async throws(StoreError) -> SnapshotRecord {
    var changed: SnapshotRecord?
    let (former, _) = try await states.change(id) { (record, attempt) throws(StoreError) in
      var (next, change) = (record, change)
      if record.verified == .damaged { change.verified = nil }
      try change.apply(to: &next)
      changed = next
      return next == record ? .keep : .write(.published(next, by: attempt))
    }
    return changed ?? former
  }

  /// Takes a bundle out of use. Its bytes remain until it is repaired or deleted.
  @discardableResult
  package func setAside(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord {
    logger.error("Set aside a bundle that is damaged", metadata: ["id": "\(id)"])
    return try await change(RecordChange(verified: .damaged), of: id)
  }

  // MARK: Listing

  /// The ids of all bundles in one shard.
  package func ids(in shard: SnapshotShard) async throws(StoreError) -> [SnapshotID] {
    try await StoreError.accessing { () async throws(S3Error) in
      var ids: [SnapshotID] = []
      try await client.forEachPage(prefix: ObjectKeys.records(in: shard)) { (objects) throws(S3Error) in
        ids += objects.lazy.filter { $0.size > StoredState.tombstoneLength }
          .compactMap { ObjectKeys.id(ofRecord: $0.key) }
      }
      return ids
    }
  }

  /// The records of those of `ids` that exist. Each has its identifiers, because there is no older version of this
  /// store. A record that can't be read is omitted and logged. Throws ``StoreError/unavailable(_:)``.
  package func records(_ ids: [SnapshotID]) async throws(StoreError) -> [SnapshotRecord] {
    let results = await withTaskGroup(of: Result<SnapshotRecord?, StoreError>.self) { group in
      var results: [Result<SnapshotRecord?, StoreError>] = []
      for (index, id) in ids.enumerated() {
        if index >= S3StoreLimits.concurrentReads, let result = await group.next() { results.append(result) }
        group.addTask { await self.recordIfReadable(id) }
      }
      for await result in group { results.append(result) }
      return results
    }
    var records: [SnapshotRecord] = []
    for result in results {
      if let record = try result.get() { records.append(record) }
    }
    return records
  }

  private func recordIfReadable(_ id: SnapshotID) async -> Result<SnapshotRecord?, StoreError> {
    do {
      return .success(try await record(id))
    } catch {
      switch error {
      case .deleted, .notFound: return .success(nil)
      case .damaged:
        logger.error("A record can't be read", metadata: ["id": "\(id)"])
        return .success(nil)
      default: return .failure(error)
      }
    }
  }

  // MARK: Uploads

  /// Begins a transient upload.
  package func beginTransientUpload(
    _ terms: UploadTerms, limit: Int64, expecting length: Int64?
  ) async throws(UploadError) -> any TransientUpload {
    let now = configuration.validator.now
    let state = try TransientUploadState(terms, limit: limit, limits: uploadLimits, at: now())
    if let length {
      try await UploadError.storing { () async throws(StoreError) in
        try await staging.requireSpace(for: length)
      }
    }
    return S3TransientUpload(state, staging.newUpload(), by: publisher, now: now)
  }

  /// Creates an upload.
  package func createUpload(_ terms: UploadTerms) async throws(UploadError) -> UploadSession {
    try await uploads.create(terms)
  }

  /// The session of an upload.
  package func uploadSession(_ id: UploadID) async throws(UploadError) -> UploadSession {
    try await uploads.session(of: id)
  }

  /// The sessions of all uploads of all servers; none if they can't be read, which is logged.
  package func uploadSessions() async -> [UploadSession] { await uploads.sessions }

  /// Begins a request that appends to an upload. Waits while another server receives bytes of the upload.
  package func beginAppending(
    _ request: AppendRequest, bytes: Int64?, to id: UploadID
  ) async throws(UploadError) -> any UploadAppending {
    try await uploads.beginAppending(request, bytes: bytes, to: id)
  }

  /// Publishes a whole upload.
  package func commitUpload(
    _ id: UploadID, as attachment: Attachment
  ) async throws(UploadError) -> UploadSession {
    try await uploads.commit(id, as: attachment)
  }

  /// Removes an upload.
  package func removeUpload(_ id: UploadID) async throws(UploadError) { try await uploads.remove(id) }

  // MARK: Sweeping

  /// Deletes bytes that neither a record nor the row of an upload names, and that are older than
  /// ``Configuration/orphanAge``: remains of uploads and deletions that did not end. One server at a time has to do this.
  /// - Parameter now: the current time.
  /// - Returns: how many objects and incomplete uploads were deleted.
  @discardableResult
  package func sweep(at now: Date = Date()) async throws(StoreError) -> Int {
    try await Sweep(
      client: client, states: states, rows: rows, limit: now - configuration.orphanAge / .seconds(1)
    ).run()
  }
}
