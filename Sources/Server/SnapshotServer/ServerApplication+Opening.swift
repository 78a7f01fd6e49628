import AccessControl
import Foundation
import HTTPClient
import HTTPTLS
package import Logging
import Observability
import PostgreSQLStore
import SnapshotAPI
import SnapshotService
import SnapshotStore
package import SystemIO
import Webhooks

extension ServerApplication {
  /// Opens a storage, by default the one of `settings`, and composes a server that uses it.
  /// - Parameters:
  ///   - listeners: sockets that listen already, instead of the address in the settings.
  ///   - environment: contains the credentials of an object store.
  ///   - version: the version of the product, for the metrics.
  ///   - openStorage: opens another storage, and lets it be observed.
  package static func open(
    _ settings: ServerSettings, listeners: [Socket] = [],
    environment: [String: String] = ProcessInfo.processInfo.environment, version: String, logger: Logger,
    storage openStorage: ((StorageObserver) async throws(ServerError) -> ServerStorage)? = nil
  ) async throws(ServerError) -> ServerApplication {
    if let problem = settings.listeningProblem { throw .listening(problem) }
    try settings.requireSoundStorage()
    if !settings.shared.isEnabled { try requireToken(settings) }
    let source: ServerCertificates.Source?
    do { source = try settings.certificateSource() } catch { throw .tls(error) }
    let exporter = MetricsExporter(version: version)
    let observer = exporter.storageObserver
    let storage: ServerStorage
    if let openStorage {
      storage = try await openStorage(observer)
    } else if settings.shared.isEnabled {
      storage = try await .openShared(
        settings, environment: environment, observer: observer, logger: logger)
    } else {
      storage = try await .open(settings, observer: observer, logger: logger)
    }
    do {
      // Servers that share their snapshots have copied their tokens by now.
      if settings.shared.isEnabled { try requireToken(settings) }
      let certificates = try openCertificates(source, logger: logger)
      let access = try await openAccess(settings, storage.database, logger: logger)
      var observation = exporter.observation(audit: try openAuditLog(settings, logger: logger))
      observation.forwarder = try openForwarder(settings, storage.database?.audit, logger: logger)
      let webhooks = try await openWebhooks(settings, storage, logger: logger)
      let application = ServerApplication(
        settings, listeners: listeners, storage: storage, access: access, observation: observation,
        certificates: certificates, webhooks: webhooks, now: storage.now, logger: logger)
      exporter.sample(application)
      let isEmpty = storage.store.remainingRepairs == 0 && storage.counted?.usage.bundles == 0
      await application.indexer.prepare(storeIsEmpty: isEmpty, isReconciled: storage.isReconciled)
      return application
    } catch {
      await storage.close()
      throw error
    }
  }

  /// Throws if other machines could read the data of users because no token is required.
  private static func requireToken(_ settings: ServerSettings) throws(ServerError) {
    guard SocketAddress(host: settings.host, port: 0) != nil else { throw .invalidHost(settings.host) }
    // If users sign in at a proxy, every other request needs a token.
    if settings.isLocal || settings.insecure || settings.trustedUser.isEnabled { return }
    let hasTokens: Bool
    do {
      hasTokens = try TokenStore(storage: settings.storage).hasTokens()
    } catch {
      throw .tokens(error)
    }
    guard hasTokens else { throw .tokenMissing(host: settings.host) }
  }

  /// Reads the tokens. Logs a warning if no token is required, or if tokens are sent in clear text.
  private static func openAccess(
    _ settings: ServerSettings, _ database: PostgreSQLStore?, logger: Logger
  ) async throws(ServerError) -> AccessPolicy {
    var configuration = settings.access
    (configuration.sharedSessions, configuration.sharedQuotas) = (database?.sessions, database?.quotas)
    configuration.sharedTokens = database?.tokens
    do {
      let access = try AccessPolicy(configuration, logger: logger)
      if try await access.isOpen() {
        logger.warning(
          """
          The store is open: every client that reaches \(settings.listeningName) can read and write every snapshot, until \
          the first token is created with `snapshot token create`.
          """)
      }
      if !settings.isLocal, settings.trustedProxies.isEmpty, !settings.tls.isEnabled {
        logger.warning(
          """
          Tokens are sent to \(settings.host) in clear text: give the server a certificate (--tls-certificate), or \
          put a proxy with TLS in front of it, and add that to trustedProxies.
          """)
      }
      return access
    } catch {
      throw .tokens(error)
    }
  }

  /// Creates the webhooks of the settings. No request may be answered yet, so that no deletion is about to happen, unless
  /// at another server.
  private static func openWebhooks(
    _ settings: ServerSettings, _ storage: ServerStorage, logger: Logger
  ) async throws(ServerError) -> Webhooks {
    let webhooks = Webhooks(settings, storage, logger: logger)
    let apply: @Sendable () async -> Void
    do { apply = try webhooks.prepare(settings.webhooksWithPublicURL) } catch {
      throw .webhooks(error)
    }
    await apply()
    await webhooks.settleHeld(olderThan: storage.database == nil ? 0 : WebhookLimits.heldSeconds)
    return webhooks
  }

  /// Reads the certificates; `nil` without HTTPS.
  private static func openCertificates(
    _ source: ServerCertificates.Source?, logger: Logger
  ) throws(ServerError) -> ServerCertificates? {
    guard let source else { return nil }
    do {
      return try ServerCertificates(source, logger: logger)
    } catch {
      throw .tls(error)
    }
  }

  private static func openAuditLog(
    _ settings: ServerSettings, logger: Logger
  ) throws(ServerError) -> AuditLog {
    do { return try AuditLog(settings.auditLog, logger: logger) } catch { throw .auditLog(error) }
  }

  /// Prepares the copies of the audit log for other servers; `nil` if there are none.
  private static func openForwarder(
    _ settings: ServerSettings, _ shared: (any SharedAudit)?, logger: Logger
  ) throws(ServerError) -> AuditForwarder? {
    guard let shared else { return nil }
    do {
      return try AuditForwarder(
        settings.auditLog, to: shared, idPath: settings.storage + "/audit-id", logger: logger)
    } catch {
      throw .auditLog(error)
    }
  }
}

extension Webhooks {
  /// Creates the webhooks of a server, which have no endpoints yet.
  convenience init(_ settings: ServerSettings, _ storage: ServerStorage, logger: Logger) {
    let path = settings.storage + "/webhooks.sqlite"
    let database = storage.database
    var environment = Environment(transport: SystemTransport()) {
      if let database { return database.outbox }
      return try SQLiteOutbox(path: path)
    }
    if let database {
      (environment.lock, environment.now) = (database.webhooksLock, storage.now)
      // Another server does not wake the one that sends.
      environment.longestSleep = 1
    }
    self.init(environment, store: storage.store, logger: logger)
  }
}
