package import HTTPEngine
package import CoreMetrics
import Synchronization

/// What is counted of one route: made once, so that a request costs only the additions.
package final class RouteMetrics: Sendable {
  /// The label: the endpoint's name, or `none` for requests that no endpoint answers.
  package let name: String
  private let factory: any MetricsFactory
  private let duration: CoreMetrics.Timer
  private let received: Counter
  private let sent: Counter
  /// How often each status was answered, from 0, which is none, to 999.
  private let statuses: Mutex<[Counter?]>

  package init(_ name: String?, factory: any MetricsFactory) {
    let name = name ?? "none"
    self.name = name
    self.factory = factory
    let dimensions = [("route", name)]
    duration = CoreMetrics.Timer(
      label: MetricName.requestDuration.rawValue, dimensions: dimensions, factory: factory)
    received = Counter(label: MetricName.requestBytes.rawValue, dimensions: dimensions, factory: factory)
    sent = Counter(label: MetricName.responseBytes.rawValue, dimensions: dimensions, factory: factory)
    statuses = Mutex(Array(repeating: nil, count: 1000))
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
