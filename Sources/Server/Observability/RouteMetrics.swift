package import CoreMetrics
package import HTTPEngine
package import SnapshotStore
import SystemIO

/// The metrics of a route. They are created once, so that a request only adds to them.
package final class RouteMetrics: Sendable {
  /// The value of the label `route`: the endpoint's name, or `none` for requests without endpoint.
  package let name: String
  private let factory: any MetricsFactory
  private let duration: CoreMetrics.Timer
  private let received: Counter
  private let sent: Counter
  /// Counters by status, from 0 (no response) to 999.
  private let statuses = Lock<[Int: Counter]>([:])

  package init(_ name: String?, factory: any MetricsFactory) {
    let name = name ?? "none"
    self.name = name
    self.factory = factory
    let dimensions = [("route", name)]
    duration = CoreMetrics.Timer(
      label: MetricName.requestDuration.rawValue, dimensions: dimensions, factory: factory)
    received = Counter(label: MetricName.requestBytes.rawValue, dimensions: dimensions, factory: factory)
    sent = Counter(label: MetricName.responseBytes.rawValue, dimensions: dimensions, factory: factory)
  }

  package func count(_ exchange: HTTPExchange) {
    let status = (0..<1000).contains(exchange.status) ? exchange.status : 0
    let counter = statuses.withLock { statuses in
      if let counter = statuses[status] { return counter }
      let counter = Counter(
        label: MetricName.requests.rawValue, dimensions: [("route", name), ("code", "\(status)")],
        factory: factory)
      statuses[status] = counter
      return counter
    }
    counter.increment()
    let (seconds, attoseconds) = exchange.duration.components
    duration.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    received.increment(by: exchange.bytesReceived)
    sent.increment(by: exchange.bytesSent)
  }
}

/// Counts the results of verifying all bundles.
package struct ScrubMetrics: ScrubObserver {
  private let bytes: Counter
  private let intact: Counter
  private let setAside: Counter
  private let damaged: Counter
  private let unreadable: Counter

  /// Creates counters with `factory`.
  package init(_ factory: any MetricsFactory) {
    func bundles(_ result: String) -> Counter {
      Counter(label: MetricName.scrubbedBundles.rawValue, dimensions: [("result", result)], factory: factory)
    }
    bytes = Counter(label: MetricName.scrubbedBytes.rawValue, factory: factory)
    intact = bundles("intact")
    setAside = bundles("set-aside")
    damaged = bundles("damaged")
    unreadable = bundles("unreadable")
  }

  /// Counts the result for one bundle.
  package func scrubbed(_ finding: ScrubFinding) {
    bytes.increment(by: finding.bytes)
    switch finding.verdict {
    case .intact: intact.increment()
    case .setAside: setAside.increment()
    case .damaged: damaged.increment()
    case .unreadable: unreadable.increment()
    }
  }
}
