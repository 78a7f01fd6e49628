import FileStore
package import Foundation
package import Logging
import PostgreSQLStore
package import S3Client
package import S3Store
import SnapshotService
import SQLiteCatalog
import SnapshotAPI
package import SnapshotFormat
package import SnapshotStore
import SnapshotViewer
import SystemIO

/// The stores of a server: bundles, uploads, and their catalogue.
///
/// They are opened together in the folder of the settings, or in an object store that several servers share, or are
/// passed in.
package struct ServerStorage: Sendable {
  /// The store of bundles, and of uploads until they are complete.
  package let store: any BundleStore & UploadStore
  /// The index over the records of the bundles. It can be rebuilt from them at any time.
  package let catalog: any Catalog
  /// Counts the bundles; `nil` if the size of the store is not known without reading every record.
  private(set) var counted: (any CountedStore)?
  /// Makes the addresses from which clients read bundles; `nil` if the server sends them.
  private(set) var links: (any BundleLinks)?
  /// Deletes what nothing needs; `nil` if there never is anything.
  private(set) var swept: (any SweptStore)?
  /// Stores the progress of the regular verification; with `nil`, each pass starts with the first bundle.
  private(set) var scrubProgress: (any ScrubProgressStore)?
  /// Stores the mark of the clock by which is deleted; with `nil`, it is lost when the server ends.
  private(set) var clockMarks: (any ClockMarkStore)?
  /// Selects the server that maintains the store.
  private(set) var maintenanceLock: any MaintenanceLock = SoleServer()
  /// Finds the changes that the catalogue lacks because a server ended; `nil` if one server uses the store.
  package private(set) var journal: ChangeJournal?
  /// The database of all servers that use the store; `nil` if there is one server. It is closed with the catalogue.
  var database: PostgreSQLStore?
  /// The records whose checksums were verified after their uploads were answered. Ends with ``closeStores()``.
  let verifications: AsyncStream<SnapshotRecord>
  /// The disk space for copies of files that pages show.
  let copies: CopySpace
  /// Makes snapshots of HTTP archives that are uploaded; `nil` if they are not accepted.
  private(set) var archives: HTTPArchiveConverter?
  /// Whether the catalogue is known to contain the records of the store when the server starts.
  package let isReconciled: @Sendable () async throws(CatalogError) -> Bool
  private let endVerifications: @Sendable () -> Void
  private let endStore: @Sendable () async -> Int64?
  private let endCatalog: @Sendable (Int64?) async -> Void
  /// The time of day, by which records are dated and uploads expire.
  package private(set) var now: @Sendable () -> Date = { Date() }

  /// A store and a catalogue that the caller has opened and closes.
  package init(_ store: any BundleStore & UploadStore, catalog: any Catalog) {
    self.init(
      store, catalog, AsyncStream.makeStream(),
      copies: CopySpace(folder: FileManager.default.temporaryDirectory.path))
  }

  private init(
    _ store: any BundleStore & UploadStore, _ catalog: any Catalog,
    _ verified: (stream: AsyncStream<SnapshotRecord>, continuation: AsyncStream<SnapshotRecord>.Continuation),
    copies: CopySpace,
    isReconciled: @escaping @Sendable () async throws(CatalogError) -> Bool = { false },
    endStore: @escaping @Sendable () async -> Int64? = { nil },
    endCatalog: @escaping @Sendable (Int64?) async -> Void = { _ in }
  ) {
    self.store = store
    self.catalog = catalog
    verifications = verified.stream
    self.copies = copies
    self.isReconciled = isReconciled
    endVerifications = { verified.continuation.finish() }
    self.endStore = endStore
    self.endCatalog = endCatalog
  }

  /// Completes the waiting commits, and closes the stores. Afterwards only the catalogue may be used.
  /// - Returns: the seal of the stores, if they have one and were left cleanly.
  func closeStores() async -> Int64? {
    let seal = await endStore()
    endVerifications()
    return seal
  }

  /// Closes the catalogue, after the stores.
  /// - Parameter seal: the seal of the stores, if the catalogue contains all of their records.
  func closeCatalog(seal: Int64?) async {
    await endCatalog(seal)
    database?.close()
  }

  /// Closes the stores and the catalogue.
  /// - Parameter isReconciled: whether the catalogue contains all records of the store. If it is `false`, the next
  ///   server compares them.
  package func close(isReconciled: Bool = false) async {
    let seal = await closeStores()
    await closeCatalog(seal: isReconciled ? seal : nil)
  }
}

// MARK: - Opening

extension ServerStorage {
  /// Opens the folder of the settings, and locks it against other processes.
  /// - Parameters:
  ///   - repairs: whether to read the whole store, even if it was closed cleanly.
  ///   - observer: records what the store does.
  package static func open(
    _ settings: ServerSettings, repairs: Bool = false,
    observer: StorageObserver = StorageObserver(), logger: Logger
  ) async throws(ServerError) -> ServerStorage {
    let verified = AsyncStream<SnapshotRecord>.makeStream()
    var configuration = FileBundleStore.Configuration(
      path: settings.storage, validator: settings.validator, reserve: settings.reservedBytes,
      quota: settings.retention.quotaBytes, sharesFlushes: settings.sharesFlushes,
      onVerification: { verified.continuation.yield($0) })
    configuration.queues = .shared
    configuration.onFlush = observer.onFlush
    let copies = CopySpace(folder: settings.storage, reserve: settings.reservedBytes)
    configuration.onShortage = { copies.reclaim() }
    configuration.repairs = repairs
    configuration.uploads = settings.uploadLimits
    let store: FileBundleStore
    do {
      store = try await FileBundleStore.open(configuration, logger: logger)
    } catch {
      throw .storage(error)
    }
    // The store's lock also protects the catalogue, so the store is opened first.
    do {
      let isEmpty = store.remainingRepairs == 0 && store.usage.bundles == 0
      let catalog = try await SQLiteCatalog.open(
        SQLiteCatalog.Configuration(path: settings.storage + "/catalog.sqlite") { reason in
          logger.warning("\(reason)")
        }, storeIsEmpty: isEmpty)
      var storage = ServerStorage(
        store, catalog, verified, copies: copies,
        isReconciled: { () async throws(CatalogError) in
          if isEmpty, catalog.isNew { return true }
          // Both were closed together, and neither was changed since.
          guard let seal = store.seal, seal == catalog.seal else { return false }
          // A change that the catalogue missed without an error changes the number.
          return try await catalog.total(CatalogQuery()).count == store.usage.bundles
        }, endStore: { await store.close() }, endCatalog: { await catalog.close(seal: $0) })
      storage.counted = store
      storage.scrubProgress = ScrubProgressFile(settings.storage + "/scrubbed")
      storage.clockMarks = ClockMarkFile(in: settings.storage)
      storage.archives = converter(settings, logger)
      return storage
    } catch {
      await store.close()
      throw .catalog(error)
    }
  }

  /// Opens an object store that several servers share. This server keeps nothing that another one needs: the folder
  /// `objects` in the folder of the settings contains bundles that arrive or are read.
  ///
  /// The catalogue is used by servers that continue when this one starts or ends. So it is not compared with the store at
  /// the start. The server that maintains the store indexes what a server left that ended, and compares the ids
  /// regularly.
  /// - Parameters:
  ///   - settings: the settings. A quota is refused, because the servers would not count each other's bundles.
  ///   - client: the object store.
  ///   - rows: the resumable uploads of all servers.
  ///   - catalog: the index of all servers, which the caller closes.
  ///   - intents: the changes that the index possibly lacks.
  ///   - settledRecords: the records with which bundles are sent; `nil` if those of the object store are read.
  ///   - lock: selects the server that maintains the store.
  ///   - downloads: who sends bundles to clients.
  ///   - observer: records what the store does.
  package static func open(
    _ settings: ServerSettings, in client: S3Client, rows: any UploadRows, catalog: any Catalog,
    intents: any ChangeIntents, settledRecords: (any SettledRecords)? = nil, lock: any MaintenanceLock,
    downloads: DownloadSource = .server, observer: StorageObserver = StorageObserver(), logger: Logger
  ) async throws(ServerError) -> ServerStorage {
    guard settings.retention.quotaBytes == nil else { throw .quotaUnsupported }
    let verified = AsyncStream<SnapshotRecord>.makeStream()
    let folder = settings.storage + "/objects"
    var configuration = S3BundleStore.Configuration(folder: folder, validator: settings.validator)
    configuration.queues = .shared
    configuration.uploads = settings.uploadLimits
    // A server whose clock is wrong must not expire the uploads of the others.
    configuration.validator.now = { client.time }
    configuration.cacheBytes = settings.shared.cacheBytes
    configuration.reserve = settings.reservedBytes
    let copies = CopySpace(folder: folder, reserve: settings.reservedBytes)
    configuration.onShortage = { copies.reclaim() }
    configuration.intents = intents
    configuration.settledRecords = settledRecords
    configuration.onRead = observer.onCacheRead
    configuration.onVerification = { verified.continuation.yield($0) }
    do {
      let store = try await S3BundleStore.open(configuration, client: client, rows: rows, logger: logger)
      var storage = ServerStorage(
        store, catalog, verified, copies: copies, isReconciled: { true },
        endStore: {
          await store.close()
          return nil
        })
      if downloads == .redirect { storage.links = store }
      storage.swept = store
      storage.scrubProgress = store.scrubProgress
      storage.clockMarks = store.clockMarks
      storage.maintenanceLock = lock
      storage.journal = store.journal
      storage.now = { client.time }
      storage.archives = converter(settings, logger)
      return storage
    } catch {
      throw .objectStore(error)
    }
  }

  /// The converter of a server that has locked the folder of the settings.
  private static func converter(_ settings: ServerSettings, _ logger: Logger) -> HTTPArchiveConverter {
    let converter = HTTPArchiveConverter(
      in: settings.storage + "/archives", reserve: settings.reservedBytes, logger: logger)
    do { try converter.removeRemains() } catch {
      logger.warning("What is left of HTTP archives can't be removed", metadata: ["error": "\(error)"])
    }
    return converter
  }
}

extension FileBundleStore: CountedStore {}

extension S3BundleStore: SweptStore {}

extension S3BundleStore: BundleLinks {
  /// A URL for a client that follows the redirect soon.
  package func url(of id: SnapshotID) async throws(StoreError) -> String {
    try await url(of: id, lifetime: .seconds(60))
  }
}

/// Who sends bundles to clients.
package enum DownloadSource: String, Sendable, CaseIterable {
  /// The server, from its cache.
  case server
  /// The object store: the server redirects to it. The clients must be able to connect to it, and need no token there.
  case redirect
}

/// Records what a storage does. Its closures are called on any thread.
package struct StorageObserver: Sendable {
  /// Called with the duration of every flush.
  let onFlush: @Sendable (Duration) -> Void
  /// Called for every bundle that is read through a cache.
  let onCacheRead: @Sendable (CacheRead) -> Void

  /// Creates an observer, which by default records nothing.
  package init(
    onFlush: @escaping @Sendable (Duration) -> Void = { _ in },
    onCacheRead: @escaping @Sendable (CacheRead) -> Void = { _ in }
  ) {
    self.onFlush = onFlush
    self.onCacheRead = onCacheRead
  }
}

extension ServerSettings {
  /// The checks of received bundles.
  fileprivate var validator: UploadValidator {
    var validator = UploadValidator(policy: validation, inflatedBytes: maximumInflatedBytes)
    validator.redaction = redaction
    validator.sealedOnly = sealedOnly
    return validator
  }

  /// The limits of resumable uploads.
  fileprivate var uploadLimits: UploadLimits {
    var limits = uploads.limits
    limits.length = maximumBundleBytes
    return limits
  }
}
