package import AccessControl
package import Foundation
package import HTTPEngine
import HTTPTypes
package import Logging
package import Observability
import PostgreSQLStore
package import SnapshotAPI
import SnapshotFormat
package import SnapshotService
import SnapshotStore
package import SystemIO
package import Webhooks

/// A snapshot server, composed of its parts. It is used by `snapshot serve`, the demo and the tests.
///
/// ``handler`` can answer requests as soon as the server is composed. ``start()`` opens the port or socket and starts the
/// background tasks; ``close(deadline:)`` ends both.
package final class ServerApplication: Sendable {
  package let storage: ServerStorage
  package let service: SnapshotService
  package let uploads: UploadService
  /// Keeps the catalogue up to date.
  package let indexer: CatalogIndexer
  /// Answers every request, also without a connection.
  package let handler: SnapshotHandler
  package let server: HTTPServer
  /// The certificates; `nil` without HTTPS.
  package let certificates: ServerCertificates?
  /// Tells other services of changes; `nil` if this server never does.
  let webhooks: Webhooks?
  private let settings: ServerSettings
  package let maintenance: Maintenance
  let observation: Observation
  let access: AccessPolicy
  let resumableUploads: ResumableUploads
  /// The most bytes of a request body, which no setting changes.
  let bodyBytes: Int64
  private let logger: Logger
  private let work = Lock(BackgroundWork())

  private struct BackgroundWork {
    /// The server on the port for plain HTTP.
    var redirects: HTTPServer?
    var httpAddress: ListenAddress?
    /// Tasks that run until they are cancelled.
    var endless: [Task<Void, Never>] = []
    /// Ends when the stores are closed.
    var verifications: Task<Void, Never>?
  }

  /// Composes a server that uses `storage`. Nothing runs yet.
  /// - Parameters:
  ///   - settings: the settings of the server. Those of the storage, of access and of the audit log are not used here,
  ///     since these parts are passed in.
  ///   - listeners: sockets that listen already, instead of the address in the settings.
  ///   - observation: records and measures the requests.
  ///   - limits: the limits of one request; `nil` uses those of the settings.
  ///   - more: additional endpoints.
  ///   - certificates: for the protection of the connections; `nil` for plain HTTP.
  ///   - webhooks: tells other services of changes; closed with the server.
  ///   - now: the time of day.
  ///   - elapsed: the time of a monotonic clock, by which jumps of the time of day are recognized.
  package init(
    _ settings: ServerSettings = ServerSettings(), listeners: [Socket] = [], storage: ServerStorage,
    access: AccessPolicy = .open,
    observation: Observation = Observation(), limits: ServiceLimits? = nil, more: [Endpoint] = [],
    certificates: ServerCertificates? = nil, webhooks: Webhooks? = nil,
    now: @escaping @Sendable () -> Date = { Date() },
    elapsed: @escaping @Sendable () -> Duration = { ContinuousClock.now - DeletionClock.Configuration.start },
    logger: Logger
  ) {
    let limits = limits ?? settings.serviceLimits
    self.storage = storage
    self.access = access
    self.observation = observation
    self.logger = logger
    self.settings = settings
    self.certificates = certificates
    self.webhooks = webhooks
    indexer = CatalogIndexer(
      store: storage.store, catalog: storage.catalog, promptCatalog: storage.database?.promptCatalog,
      journal: storage.journal, logger: logger)
    service = SnapshotService(
      store: storage.store, catalog: storage.catalog, indexer: indexer,
      links: storage.links, converter: storage.archives, announcer: webhooks)
    let clock = DeletionClock(of: storage, now: now, elapsed: elapsed, logger: logger)
    uploads = UploadService(service, store: storage.store, access: access, clock: clock, logger: logger)
    maintenance = Maintenance(
      settings.retention, storage: storage, catalog: indexer.reconciled, clock: clock, uploads: uploads,
      announcer: webhooks,
      observer: ScrubMetrics(observation.metrics.factory),
      // The database may have been restored from a backup, and lack changes without a note.
      onSweep: { [indexer] in indexer.compareAgain() }, onTakeover: { [indexer] in indexer.takeOver() },
      onExpiration: { [audit = observation.audit] expiration in
        audit?.record(AuditEvent(.expireByRule, .done, snapshot: expiration.id))
      }, now: now, logger: logger)
    resumableUploads = ResumableUploads(uploads, settings.uploadOffer)
    handler = SnapshotHandler(
      service, access: access, at: settings.publicURL, limits: limits, uploads: resumableUploads,
      more: MaintenanceRoutes(maintenance.reaper, maintenance.scrubber).endpoints
        + WebhookRoutes(webhooks).endpoints + more,
      tracker: settings.issueTracker, comparisonFilter: settings.comparisonFilter, copies: storage.copies,
      webhooks: webhooks,
      observation: observation, deletionsHeld: { clock.doubt?.description }, logger: logger)
    var configuration = settings.engine
    configuration.listeners = listeners
    bodyBytes = limits.formBytes
    configuration.limits.bodyBytes = bodyBytes
    let requests = RequestObserver(observation.metrics, logger: logger)
    configuration.logsExchanges = false
    configuration.onResponse = { requests.observe($0) }
    configuration.security = certificates?.tls
    var responder: any HTTPHandler = handler
    if certificates != nil, !settings.tls.selfSigned, let seconds = settings.tls.strictTransportSeconds {
      responder = SecureResponses(handler: handler, seconds: seconds)
    }
    server = HTTPServer(configuration: configuration, handler: responder, logger: logger)
  }

  /// Opens the port or socket, and starts indexing, verification, expiration and the renewed authorization of running requests.
  /// - Returns: the address that the server listens on.
  @discardableResult
  package func start() async throws(HTTPServerError) -> ListenAddress {
    let address = try await server.start()
    try await startRedirects(to: address.port)
    let (access, indexer, storage, logger) = (access, indexer, storage, logger)
    work.withLock { work in
      work.endless = [Task { await access.watch() }, Task { await indexer.run() }]
      if let certificates { work.endless.append(Task { await certificates.run() }) }
      if let database = storage.database {
        work.endless.append(Task { await database.watchTokens(logger: logger) })
      }
      if let forwarder = observation.forwarder { work.endless.append(Task { await forwarder.run() }) }
      if let webhooks { work.endless.append(Task { await webhooks.run() }) }
      work.verifications = Task {
        for await record in storage.verifications {
          do { try await indexer.reconciled.refresh(record, from: storage.store) } catch {
            logger.error(
              "The result of a verification can't be added to the catalogue",
              metadata: ["id": "\(record.id)", "error": "\(error)"])
          }
        }
      }
    }
    maintenance.start()
    return address
  }

  /// The server on the port for plain HTTP, while there is one.
  var redirects: HTTPServer? { work.withLock { $0.redirects } }

  /// The address for plain HTTP beside HTTPS, while the server runs; `nil` if there is none.
  package var httpAddress: ListenAddress? { work.withLock { $0.httpAddress } }

  /// Opens the port for plain HTTP, if there is one.
  private func startRedirects(to port: UInt16) async throws(HTTPServerError) {
    guard certificates != nil, let httpPort = settings.tls.httpPort else { return }
    var configuration = settings.engine
    configuration.port = UInt16(clamping: httpPort)
    configuration.eventLoops = 1
    configuration.logsExchanges = false
    let redirects = HTTPServer(
      configuration: configuration, handler: RedirectHandler(port: port, acmeFolder: settings.tls.acmeFolder),
      logger: logger)
    let address: ListenAddress
    do {
      address = try await redirects.start()
      logger.notice("http://\(address) redirects to HTTPS")
    } catch {
      await server.shutdown(deadline: .zero)
      throw error
    }
    work.withLock { ($0.redirects, $0.httpAddress) = (redirects, address) }
  }

  /// Shuts the server down, ends the background tasks, completes pending commits, and closes the stores.
  /// - Parameter deadline: how long running requests may continue.
  package func close(deadline: Duration = .zero) async {
    let work = work.withLock { work in
      defer { work = BackgroundWork() }
      return work
    }
    await work.redirects?.shutdown(deadline: .zero)
    await server.shutdown(deadline: deadline)
    for task in work.endless { task.cancel() }
    for task in work.endless { await task.value }
    await maintenance.stop()
    await closeAuditLog()
    let seal = await storage.closeStores()
    await work.verifications?.value
    await indexer.close()
    await webhooks?.close()
    await storage.closeCatalog(seal: await indexer.isReconciled() ? seal : nil)
  }

  /// Writes the last lines of the audit log, and copies them while there are connections to the database.
  private func closeAuditLog() async {
    await observation.audit?.close()
    // The forwarder logs a failure. The next start copies what remains.
    do { try await observation.forwarder?.forward() } catch {}
  }
}

/// Adds `Strict-Transport-Security` (RFC 6797) to the responses of a handler that are sent through TLS.
struct SecureResponses: HTTPHandler {
  let handler: any HTTPHandler
  /// How many seconds browsers use only HTTPS.
  let seconds: Int64

  func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
    var response = try await handler.respond(to: request)
    // On loopback the field would concern all programs of the machine.
    if request.isSecure, !PageOrigin.isLoopback(request.authority.lowercased()) {
      response.headerFields[.strictTransportSecurity] = "max-age=\(seconds)"
    }
    return response
  }
}
