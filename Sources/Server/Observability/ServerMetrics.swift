package import CoreMetrics
import Synchronization

/// What the server counts and measures, through swift-metrics: each instrument is made once.
package struct ServerMetrics: Sendable {
  /// Where the instruments come from.
  package let factory: any MetricsFactory
  /// How long the disk took to flush.
  package let flushDuration: CoreMetrics.Timer
  package let auditWritten: Counter
  package let auditLost: Counter
  private let uploads: Outcomes

  /// Instruments of `factory`; without one nothing is kept.
  package init(_ factory: any MetricsFactory = NOOPMetricsHandler.instance) {
    self.factory = factory
    flushDuration = CoreMetrics.Timer(label: MetricName.flushDuration.rawValue, factory: factory)
    let events = MetricName.auditEvents.rawValue
    auditWritten = Counter(label: events, dimensions: [("result", "written")], factory: factory)
    auditLost = Counter(label: events, dimensions: [("result", "failed")], factory: factory)
    uploads = Outcomes(factory)
  }

  /// A gauge that is told of as it is when the metrics are asked for.
  package func gauge(_ name: MetricName, _ dimensions: [(String, String)] = []) -> Meter {
    Meter(label: name.rawValue, dimensions: dimensions, factory: factory)
  }

  /// An upload ended: `created`, `repeated`, `broken-off`, or as the problem's kind says.
  package func countUpload(_ outcome: String) { uploads[outcome].increment() }

  private final class Outcomes: Sendable {
    private let factory: any MetricsFactory
    private let counters = Mutex<[String: Counter]>([:])

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
