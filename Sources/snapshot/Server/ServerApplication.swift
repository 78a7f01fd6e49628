import FileStore
import HTTPEngine
import Logging
import SQLiteCatalog
import SnapshotFormat
import SnapshotServer
import SnapshotStore
import SystemIO

/// The server, put together: store, catalogue, service, routes, engine.
struct ServerApplication {
  let server: HTTPServer
  private let store: FileBundleStore
  private let upkeep: Upkeep
  private let catalog: SQLiteCatalog
  private let indexing: Task<Void, Never>
  private let verdict: AsyncStream<SnapshotRecord>.Continuation

  /// Opens the storage, indexes what is in it, and prepares to listen.
  init(_ settings: ServerSettings, logger: Logger) async throws {
    try Self.refuseOpenDoor(settings)
    let (verdicts, verdict) = AsyncStream<SnapshotRecord>.makeStream()
    store = try await FileBundleStore.open(
      FileBundleStore.Configuration(
        path: settings.storage,
        admission: Admission(policy: settings.validation),
        reserve: settings.reservedBytes,
        quota: settings.retention.quotaBytes,
        sharesFlushes: settings.sharesFlushes,
        onVerification: { verdict.yield($0) }),
      logger: logger)
    // Only who holds the storage may touch the catalogue in it.
    let catalog = try await Self.openCatalog(settings.storage, logger: logger)
    self.catalog = catalog
    self.verdict = verdict
    let indexer = CatalogIndexer(store: store, catalog: catalog, logger: logger)
    let store = store
    indexing = Task {
      async let _ = indexer.run()
      for await record in verdicts {
        do { try await catalog.refresh(record, from: store) } catch {
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
    upkeep = Upkeep(
      settings.retention, store: store, catalog: catalog, storage: settings.storage, logger: logger)
    let handler = SnapshotHandler(
      service, limits: limits, more: MaintenanceRoutes(upkeep.reaper, upkeep.scrubber).routes, logger: logger)
    server = HTTPServer(configuration: configuration, handler: handler, logger: logger)
    upkeep.start()
  }

  /// Finishes what the store has begun, and frees the storage. The server has been shut down before.
  func close() async {
    await upkeep.stop()
    await store.close()
    verdict.finish()
    await indexing.value
    await catalog.close()
  }

  /// The catalogue of a storage: an index that may be removed at any time.
  static func openCatalog(_ storage: String, logger: Logger) async throws -> SQLiteCatalog {
    try await SQLiteCatalog.open(
      SQLiteCatalog.Configuration(path: storage + "/catalog.sqlite") { reason in
        logger.warning("\(reason)")
      })
  }

  /// Beyond loopback anybody could read what users saw.
  private static func refuseOpenDoor(_ settings: ServerSettings) throws(CommandFailure) {
    guard let address = SocketAddress(host: settings.host, port: 0) else {
      throw CommandFailure(
        "‘\(settings.host)’ is neither an IP address nor localhost; give one as --host.", status: .refused)
    }
    guard address.host.isLoopback || settings.insecure else {
      throw CommandFailure(
        """
        There is no access control yet, so anybody who reaches \(settings.host) could read and write every \
        snapshot. Listen on 127.0.0.1, or say --insecure where something in front decides who comes in.
        """, status: .refused)
    }
  }
}
