import AccessControl
import FileStore
import HTTPEngine
import Logging
import SQLiteCatalog
import SnapshotAPI
import SnapshotFormat
import SnapshotServer
import SnapshotStore
import SystemIO

/// The server, put together: store, catalogue, service, routes, engine.
struct ServerApplication {
  let server: HTTPServer
  private let store: FileBundleStore
  private let observers: ServerObservers
  private let maintenance: Maintenance
  private let catalog: SQLiteCatalog
  private let indexing: Task<Void, Never>
  /// Ends the calls of tokens that are no longer valid.
  private let watching: Task<Void, Never>
  private let verdict: AsyncStream<SnapshotRecord>.Continuation

  /// Opens the storage, indexes what is in it, and prepares to listen.
  init(_ settings: ServerSettings, logger: Logger) async throws {
    try Self.refuseOpenDoor(settings)
    let (verdicts, verdict) = AsyncStream<SnapshotRecord>.makeStream()
    observers = ServerObservers(logger: logger)
    var storage = FileBundleStore.Configuration(
      path: settings.storage,
      validator: UploadValidator(
        policy: settings.validation, inflatedBytes: settings.maximumInflatedBytes),
      reserve: settings.reservedBytes,
      quota: settings.retention.quotaBytes,
      sharesFlushes: settings.sharesFlushes,
      onVerification: { verdict.yield($0) })
    storage.onFlush = observers.onFlush
    storage.uploads = settings.uploads.limits
    storage.uploads.length = settings.maximumBundleBytes
    store = try await FileBundleStore.open(storage, logger: logger)
    // Only who holds the storage may touch the catalogue in it. Either may have to wait for the disk.
    async let opened = Self.openCatalog(settings.storage, logger: logger)
    let access = try await Self.accessControl(settings, logger: logger)
    let catalog = try await opened
    self.catalog = catalog
    self.verdict = verdict
    let indexer = CatalogIndexer(store: store, catalog: catalog, logger: logger)
    await indexer.prepare(storeIsEmpty: store.usage.bundles == 0)
    let store = store
    indexing = Task {
      async let _ = indexer.run()
      for await record in verdicts {
        do { try await indexer.reconciled.refresh(record, from: store) } catch {
          logger.error("A verdict can't be listed", metadata: ["id": "\(record.id)", "error": "\(error)"])
        }
      }
    }
    let service = SnapshotService(store: store, catalog: catalog, indexer: indexer)
    var configuration = HTTPServer.Configuration(host: settings.host, port: UInt16(settings.port))
    if settings.eventLoops > 0 { configuration.eventLoops = settings.eventLoops }
    configuration.trustedProxies = settings.trustedProxies
    configuration.limits = settings.limits
    var limits = ServiceLimits()
    limits.bundleBytes = settings.maximumBundleBytes
    configuration.limits.bodyBytes = limits.formBytes
    let uploads = UploadService(service, store: store, access: access, logger: logger)
    let observation = try observers.observe(store, settings)
    maintenance = Maintenance(
      settings.retention, store: store, catalog: indexer.reconciled, uploads: uploads,
      storage: settings.storage,
      observer: observers.onScrub,
      onExpiration: observers.onExpiration, logger: logger)
    observers.report(on: &configuration)
    var offer = settings.uploads.offer
    offer.sendsInterimAnswers = settings.sendsInterimAnswers
    let handler = SnapshotHandler(
      service, access: access, limits: limits, uploads: ResumableUploads(uploads, offer),
      more: MaintenanceRoutes(maintenance.reaper, maintenance.scrubber).endpoints, observation: observation,
      logger: logger
    )
    server = HTTPServer(configuration: configuration, handler: handler, logger: logger)
    observers.sample(server)
    observers.sample(indexer, store)
    observers.sample(maintenance)
    watching = Task { await access.watch() }
    maintenance.start()
  }

  /// Finishes what the store has begun, and frees the storage. The server has been shut down before.
  func close() async {
    watching.cancel()
    await watching.value
    await maintenance.stop()
    await store.close()
    verdict.finish()
    await indexing.value
    await catalog.close()
    await observers.close()
  }

  /// The catalogue of a storage: an index that may be removed at any time.
  static func openCatalog(_ storage: String, logger: Logger) async throws -> SQLiteCatalog {
    try await SQLiteCatalog.open(
      SQLiteCatalog.Configuration(path: storage + "/catalog.sqlite") { reason in
        logger.warning("\(reason)")
      })
  }

  /// Beyond loopback anybody could read what users saw, while no token is needed.
  private static func refuseOpenDoor(_ settings: ServerSettings) throws {
    guard let address = SocketAddress(host: settings.host, port: 0) else {
      throw CommandFailure(
        "‘\(settings.host)’ is neither an IP address nor localhost; give one as --host.", status: .refused)
    }
    guard try address.host.isLoopback || settings.insecure || hasTokens(settings.storage) else {
      throw CommandFailure(
        """
        There is no token yet, so anybody who reaches \(settings.host) could read and write every snapshot. Make one \
        with `snapshot token create`, listen on 127.0.0.1, or say --insecure where something in front decides who \
        comes in.
        """, status: .refused)
    }
  }

  private static func hasTokens(_ storage: String) throws(CommandFailure) -> Bool {
    do { return try TokenStore(storage: storage).hasTokens() } catch { throw CommandFailure(error) }
  }

  /// Who may do what, and a word where that is everybody everything.
  private static func accessControl(_ settings: ServerSettings, logger: Logger) async throws -> AccessPolicy {
    var configuration = AccessPolicy.Configuration(storage: settings.storage)
    let isLocal = SocketAddress(host: settings.host, port: 0)?.host.isLoopback ?? false
    configuration.opensWithoutTokens = isLocal || settings.insecure
    configuration.answersAnyName = settings.insecure
    configuration.tokenRate = settings.requestsPerToken
    configuration.addressRate = settings.requestsPerAddress
    configuration.tokenQuota = settings.uploadsPerToken
    configuration.addressQuota = settings.uploadsPerAddress
    do throws(TokenStoreError) {
      let access = try AccessPolicy(configuration, logger: logger)
      if try await access.isOpen() {
        logger.warning(
          """
          The store is open: everybody who reaches \(settings.host) may read and write every snapshot, until \
          `snapshot token create` has made the first token.
          """)
      }
      if !isLocal, settings.trustedProxies.isEmpty {
        logger.warning(
          """
          Tokens can be read on their way to \(settings.host): put a proxy with TLS in front, and name it in \
          trustedProxies.
          """)
      }
      return access
    } catch {
      throw CommandFailure(error)
    }
  }
}
