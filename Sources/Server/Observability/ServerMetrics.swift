package import CoreMetrics
import SystemIO
package import Tracing

/// The metrics of the server, recorded with swift-metrics. Each instrument is created once.
package struct ServerMetrics: Sendable {
  /// Creates the instruments.
  package let factory: any MetricsFactory
  /// The duration of synchronizing files to disk.
  package let flushDuration: CoreMetrics.Timer
  package let auditWritten: Counter
  package let auditLost: Counter
  /// Bundles that were read from the cache of an object store.
  package let cacheHits: Counter
  /// Bundles that were not in the cache.
  package let cacheMisses: Counter
  private let uploads: Outcomes

  /// Creates instruments with `factory`. The default factory discards all values.
  package init(_ factory: any MetricsFactory = NOOPMetricsHandler.instance) {
    self.factory = factory
    flushDuration = CoreMetrics.Timer(label: MetricName.flushDuration.rawValue, factory: factory)
    let events = MetricName.auditEvents.rawValue
    auditWritten = Counter(label: events, dimensions: [("result", "written")], factory: factory)
    auditLost = Counter(label: events, dimensions: [("result", "failed")], factory: factory)
    let reads = MetricName.cacheReads.rawValue
    cacheHits = Counter(label: reads, dimensions: [("result", "hit")], factory: factory)
    cacheMisses = Counter(label: reads, dimensions: [("result", "miss")], factory: factory)
    uploads = Outcomes(factory)
  }

  /// Returns a gauge, which is set whenever the metrics are requested.
  package func gauge(_ name: MetricName, _ dimensions: [(String, String)] = []) -> Meter {
    Meter(label: name.rawValue, dimensions: dimensions, factory: factory)
  }

  /// Counts a finished upload. The outcome is `created`, `repeated`, `broken-off`, or the name of the problem's kind.
  package func countUpload(_ outcome: String) { uploads[outcome].increment() }

  private final class Outcomes: Sendable {
    private let factory: any MetricsFactory
    private let counters = Lock<[String: Counter]>([:])

    init(_ factory: any MetricsFactory) { self.factory = factory }

    subscript(outcome: String) -> Counter {
      counters.withLock { counters in
        if let counter = counters[outcome] { return counter }
        let counter = Counter(
          label: MetricName.uploads.rawValue, dimensions: [("outcome", outcome)], factory: factory)
        counters[outcome] = counter
        return counter
      }
    }
  }
}

/// The names of the metrics.
package enum MetricName: String, CaseIterable, Sendable {
  case requests = "http_requests_total"
  case requestDuration = "http_request_duration_seconds"
  case requestBytes = "http_request_bytes_total"
  case responseBytes = "http_response_bytes_total"
  case openConnections = "http_connections_open"
  case uploads = "snapshot_uploads_total"
  case storeBytes = "snapshot_store_bytes"
  case storeBundles = "snapshot_store_bundles"
  case lostBundles = "snapshot_store_lost_bundles"
  case queueDepth = "snapshot_queue_depth"
  case flushDuration = "snapshot_flush_duration_seconds"
  case scrubbedBundles = "snapshot_scrubbed_bundles_total"
  case scrubbedBytes = "snapshot_scrubbed_bytes_total"
  case heldExpirations = "snapshot_expirations_held"
  case deletionsHeld = "snapshot_deletions_held"
  case remainingRepairs = "snapshot_repairs_remaining"
  case uncomparedShare = "snapshot_catalog_uncompared_ratio"
  case cacheReads = "snapshot_cache_reads_total"
  case catalogLag = "snapshot_catalog_lag_records"
  case auditEvents = "snapshot_audit_events_total"
  case webhookDeliveries = "snapshot_webhook_deliveries"
  case webhookDisabled = "snapshot_webhook_disabled"
  case build = "snapshot_build_info"

  /// The help text in the Prometheus format.
  package var help: String {
    switch self {
    case .requests: "Finished requests, by route and status; 0 if the client disconnected before that."
    case .requestDuration: "Time from the last byte of a request's head to the last byte of its response."
    case .requestBytes: "Bytes of requests: heads and decoded bodies."
    case .responseBytes: "Bytes of responses that were sent, including heads."
    case .openConnections: "Open connections."
    case .uploads: "Finished uploads, by outcome."
    case .storeBytes: "Bytes of the stored bundles."
    case .storeBundles: "Stored bundles."
    case .lostBundles: "Published bundles whose files are gone, as far as that is known."
    case .queueDepth: "Waiting jobs, by queue."
    case .flushDuration: "Duration of synchronizing files and folders to disk."
    case .scrubbedBundles: "Bundles that were verified again, by result."
    case .scrubbedBytes: "Bytes of bundles that were verified again."
    case .heldExpirations: "Snapshots whose deletion waits for `snapshot expire --confirm`."
    case .deletionsHeld: "1 while nothing is deleted automatically because the clock may be wrong, else 0."
    case .remainingRepairs: "Parts of the store, of at most 256, that are still to be repaired after a crash."
    case .uncomparedShare: "Share of the store that is still to be compared with the catalogue."
    case .cacheReads: "Bundles read through the cache of an object store, by whether they were in it."
    case .catalogLag: "Stored records that are not in the catalogue yet."
    case .auditEvents: "Events for the audit log, by whether writing them succeeded."
    case .webhookDeliveries: "Events for webhooks, by what became of them."
    case .webhookDisabled: "1 if the webhook wants no more events, else 0."
    case .build: "Always 1, with the running version."
    }
  }
}

/// The observers of the server: metrics, the audit log and traces. By default nothing is recorded.
package struct Observation: Sendable {
  /// The metrics.
  package var metrics: ServerMetrics
  /// Returns the text for `/metrics`, with its media type. If it is `nil`, the path does not exist.
  package var metricsText: (text: @Sendable () async -> String, contentType: String)?
  /// The audit log. An action that can't be recorded there is refused.
  package var audit: AuditLog?
  /// Copies the audit log for other servers; `nil` if there is one.
  package var forwarder: AuditForwarder?
  /// Creates a span for every request.
  package var tracer: (any Tracer)?

  /// Creates observers. By default there is only the process's tracer, if one was set.
  package init(metrics: ServerMetrics = ServerMetrics(), audit: AuditLog? = nil) {
    self.metrics = metrics
    self.audit = audit
    let tracer = InstrumentationSystem.tracer
    self.tracer = tracer is NoOpTracer ? nil : tracer
  }
}
