import CoreMetrics
import HTTPEngine
import Observability
import PrometheusMetrics
import S3Store
import SnapshotAPI
import SnapshotService
import SnapshotStore
import SystemIO

/// A store that counts its bundles and what waits in it.
protocol CountedStore: AnyObject, Sendable {
  /// The number and size of the stored bundles.
  var usage: StoreUsage { get }
  /// The most bytes that all bundles may have together; `nil` means no limit.
  var quota: Int64? { get set }
  /// The number of operations that wait in each queue of the store.
  var waiting: [String: Int] { get }
}

/// Records the metrics of a server, and formats them as Prometheus text on request.
final class MetricsExporter: Sendable {
  private let registry = PrometheusRegistry(
    describing: Dictionary(uniqueKeysWithValues: MetricName.allCases.map { ($0.rawValue, .init($0.help)) }))
  private let metrics: ServerMetrics
  /// Sets the gauges to the current values.
  private let sample = Lock<@Sendable () -> Void>({})
  /// Reads the numbers of the webhooks.
  private let sampleWebhooks = Lock<@Sendable () async -> Void>({})

  /// - Parameter version: the version of the product.
  init(version: String) {
    metrics = ServerMetrics(registry)
    metrics.gauge(.build, [("version", version)]).set(1)
  }

  /// Records what the storage does.
  var storageObserver: StorageObserver {
    StorageObserver(
      onFlush: { [metrics] duration in
        let (seconds, attoseconds) = duration.components
        metrics.flushDuration.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
      },
      onCacheRead: { [metrics] read in
        switch read {
        case .hit: metrics.cacheHits.increment()
        case .miss: metrics.cacheMisses.increment()
        }
      })
  }

  /// Creates an observation with these metrics and `audit`.
  func observation(audit: AuditLog) -> Observation {
    var observation = Observation(metrics: metrics, audit: audit)
    observation.metricsText = (
      text: {
        await self.sampleWebhooks.withLock { $0 }()
        return await ServerQueues.shared.pages.next.perform { self.text }
      },
      contentType: PrometheusRegistry.contentType
    )
    return observation
  }

  /// Reads the gauges from `application` from now on, until it is deallocated.
  func sample(_ application: ServerApplication) {
    let setUsage = application.storage.counted.map { usageSetter($0, application.indexer) }
    let (held, doubted) = (metrics.gauge(.heldExpirations), metrics.gauge(.deletionsHeld))
    let (repairs, uncompared) = (metrics.gauge(.remainingRepairs), metrics.gauge(.uncomparedShare))
    let connections = metrics.gauge(.openConnections)
    let audit = metrics.gauge(.queueDepth, [("queue", "audit")])
    let depths = Dictionary(
      uniqueKeysWithValues: (application.storage.counted?.waiting ?? [:]).keys.map { queue in
        (queue, metrics.gauge(.queueDepth, [("queue", queue)]))
      })
    if let webhooks = application.webhooks {
      let gauges = WebhookMetrics(metrics)
      sampleWebhooks.withLock {
        $0 = { [weak webhooks] in if let webhooks { await gauges.update(from: webhooks) } }
      }
    }
    sample.withLock { sample in
      sample = { [weak application] in
        guard let application else { return }
        setUsage?()
        repairs.set(application.storage.store.remainingRepairs)
        uncompared.set(application.indexer.comparison.map { 1 - $0 } ?? 0)
        held.set(application.maintenance.heldExpirations)
        doubted.set(application.maintenance.clockDoubt == nil ? 0 : 1)
        connections.set(application.server.openConnections)
        audit.set(application.observation.audit?.waitingEvents ?? 0)
        for (queue, count) in application.storage.counted?.waiting ?? [:] { depths[queue]?.set(count) }
      }
    }
  }

  /// Sets the gauges of a store that counts its bundles.
  private func usageSetter(
    _ store: any CountedStore, _ indexer: CatalogIndexer
  ) -> @Sendable () -> Void {
    let (bytes, bundles) = (metrics.gauge(.storeBytes), metrics.gauge(.storeBundles))
    let lost = metrics.gauge(.lostBundles)
    let lag = metrics.gauge(.catalogLag)
    return { [weak indexer] in
      let usage = store.usage
      bytes.set(usage.bytes)
      bundles.set(usage.bundles)
      lost.set(usage.lost)
      if let indexer { lag.set(indexer.progress.lag(behind: usage)) }
    }
  }

  private var text: String {
    sample.withLock { $0 }()
    return registry.text()
  }
}

extension CatalogIndexer.Progress {
  /// The number of bundles that are not in the catalogue yet.
  fileprivate func lag(behind usage: StoreUsage) -> Int {
    switch self {
    case .ready: 0
    case .indexing(_, let records): max(usage.bundles - records, 0)
    case .unknown: usage.bundles
    }
  }
}
