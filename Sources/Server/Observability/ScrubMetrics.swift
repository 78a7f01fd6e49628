package import CoreMetrics
package import SnapshotStore

/// Counts what is found while every bundle is looked at.
package struct ScrubMetrics: ScrubObserver {
  private let bytes: Counter
  private let intact: Counter
  private let setAside: Counter
  private let damaged: Counter
  private let unreadable: Counter

  /// Counts by instruments of `factory`.
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

  /// One bundle was looked at.
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
