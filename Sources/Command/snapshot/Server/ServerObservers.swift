import CoreMetrics
import Dispatch
import FileStore
import HTTPEngine
import Logging
import Observability
import PrometheusMetrics
import SnapshotAPI
import SnapshotFormat
import SnapshotStore
import Synchronization
import SystemIO

/// Who looks on while the server runs, put together: metrics, access log, audit log.
final class ServerObservers: Sendable {
  private let registry = PrometheusRegistry(
    describing: Dictionary(uniqueKeysWithValues: MetricName.allCases.map { ($0.rawValue, .init($0.help)) }))
  private let metrics: ServerMetrics
  private let requests: RequestObserver
  private let logger: Logger
  /// Puts the metrics into words, for which event loops have no time.
  private let queue = DispatchQueue(label: "metrics")
  private let audit = Mutex<AuditLog?>(nil)
  /// Set gauges to what is so now.
  private let samples = Mutex<[@Sendable () -> Void]>([])

  init(logger: Logger) {
    self.logger = logger
    metrics = ServerMetrics(registry)
    requests = RequestObserver(metrics, logger: logger)
    metrics.gauge(.build, [("version", ProductVersion.current)]).set(1)
  }

  /// For the store's configuration.
  var onFlush: @Sendable (Duration) -> Void {
    { [timer = metrics.flushDuration] duration in
      let (seconds, attoseconds) = duration.components
      timer.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
  }

  /// Told of every bundle that is looked at again.
  var onScrub: ScrubMetrics { ScrubMetrics(registry) }

  /// Told of every snapshot that went by itself.
  var onExpiration: @Sendable (Expiration) -> Void {
    { expiration in
      self.audit.withLock { $0 }?.note(AuditEvent("expireByRule", .done, snapshot: expiration.id))
    }
  }

  /// Has every request counted and logged when it is over.
  func report(on configuration: inout HTTPServer.Configuration) {
    configuration.logsExchanges = false
    configuration.onResponse = { [requests] in requests.observe($0) }
  }

  /// Opens the audit log in the storage folder, and looks at how `store` fares.
  func observe(_ store: FileBundleStore, _ settings: ServerSettings) throws(CommandFailure) -> Observation {
    var configuration = AuditLog.Configuration(path: settings.storage + "/audit.log")
    configuration.fileBytes = settings.auditFileBytes
    configuration.keptFiles = settings.auditFiles
    let log: AuditLog
    do throws(SystemError) {
      log = try AuditLog(configuration, logger: logger)
    } catch {
      throw CommandFailure("The audit log can't be written: \(error)")
    }
    audit.withLock { $0 = log }
    sample(store, log)
    var observation = Observation(metrics: metrics, audit: log)
    observation.metricsText = (
      text: { await self.queue.perform { self.text } }, contentType: PrometheusRegistry.contentType
    )
    return observation
  }

  /// Looks at how many connections are open.
  func sample(_ server: HTTPServer) {
    let gauge = metrics.gauge(.openConnections)
    samples.withLock { samples in
      samples.append { [weak server] in gauge.set(server?.openConnections ?? 0) }
    }
  }

  /// Looks at how far the catalogue is behind the store.
  func sample(_ indexer: CatalogIndexer, _ store: FileBundleStore) {
    let gauge = metrics.gauge(.catalogLag)
    samples.withLock { samples in
      samples.append {
        switch indexer.progress {
        case .ready: gauge.set(0)
        case .indexing(_, let records): gauge.set(max(store.usage.bundles - records, 0))
        case .unknown: gauge.set(store.usage.bundles)
        }
      }
    }
  }

  /// Looks at what waits to be confirmed before it goes.
  func sample(_ maintenance: Maintenance) {
    let gauge = metrics.gauge(.heldExpirations)
    samples.withLock { samples in samples.append { gauge.set(maintenance.heldExpirations) } }
  }

  /// Ends the audit log.
  func close() async { await audit.withLock { $0 }?.close() }

  private func sample(_ store: FileBundleStore, _ log: AuditLog) {
    let (bytes, bundles) = (metrics.gauge(.storeBytes), metrics.gauge(.storeBundles))
    let waiting = metrics.gauge(.queueDepth, [("queue", "audit")])
    let depths = store.waiting.keys.map { queue in
      (queue: queue, gauge: metrics.gauge(.queueDepth, [("queue", queue)]))
    }
    samples.withLock { samples in
      samples.append {
        let usage = store.usage
        bytes.set(usage.bytes)
        bundles.set(usage.bundles)
        waiting.set(log.waitingEvents)
        for depth in depths { depth.gauge.set(store.waiting[depth.queue] ?? 0) }
      }
    }
  }

  private var text: String {
    for sample in samples.withLock({ $0 }) { sample() }
    return registry.text()
  }
}
