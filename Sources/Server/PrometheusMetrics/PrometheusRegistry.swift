package import CoreMetrics
import SystemIO

/// Stores the values measured with swift-metrics, and exports them in Prometheus' text format (version 0.0.4).
///
/// A label of swift-metrics is the name of a metric family, and its dimensions are the labels. Characters that are not
/// valid in a name are replaced by `_`. Counters are exported as counters. Meters and recorders that don't aggregate
/// are gauges. Timers and recorders that aggregate are histograms with fixed buckets; timers are in seconds. The same
/// label and dimensions always identify the same series. Thread-safe. Recording a value takes one short lock and
/// allocates nothing.
package final class PrometheusRegistry: MetricsFactory {
  /// The help text and buckets of a family.
  package struct Description: Sendable {
    /// The help text.
    package var help: String
    /// The upper bounds of a histogram's buckets, in ascending order, without the last bucket, which has no bound.
    package var buckets: [Double]

    /// Creates a description. `buckets` only affects histograms.
    package init(_ help: String, buckets: [Double] = PrometheusRegistry.secondsBuckets) {
      self.help = help
      self.buckets = buckets
    }
  }

  /// Bounds from a tenth of a millisecond to a minute.
  package static let secondsBuckets: [Double] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60,
  ]
  /// The value of `Content-Type` for ``text()``.
  package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  private struct Family {
    let kind: Series.Kind
    let description: Description?
    var series: [[Label]: Series] = [:]
  }

  /// The maximum number of series per family. Values of further series are discarded, because a label with arbitrary
  /// values would otherwise fill the memory. `metrics_series_refused` counts these series.
  package let seriesPerFamily: Int
  private let descriptions: [String: Description]
  private let families = Lock<[String: Family]>([:])
  private let refused = Series(.counter, buckets: [])

  /// Creates an empty registry.
  ///
  /// - Parameter describing: the descriptions of families, by name.
  package init(describing descriptions: [String: Description] = [:], seriesPerFamily: Int = 1000) {
    self.descriptions = descriptions
    self.seriesPerFamily = seriesPerFamily
    let name = "metrics_series_refused"
    let help = Description("Series that exceed the limit of their family, or differ from its kind.")
    families.withLock {
      $0[name] = Family(kind: .counter, description: help, series: [[]: refused])
    }
  }

  /// Returns all metrics as text: families sorted by name, series by labels. Each line has a line end.
  package func text() -> String {
    var text = ""
    for (name, family) in families.withLock({ $0 }).sorted(by: { $0.key < $1.key })
    where !family.series.isEmpty {
      if let help = family.description?.help {
        text += "# HELP \(name) \(PrometheusText.escaped(help, quotes: false))\n"
      }
      text += "# TYPE \(name) \(family.kind.rawValue)\n"
      let series = family.series.sorted { $0.key.lexicographicallyPrecedes($1.key) }
      for (labels, series) in series { series.append(to: &text, name, labels) }
    }
    return text
  }

  private func series(_ label: String, _ dimensions: [(String, String)], _ kind: Series.Kind) -> Series {
    let name = PrometheusText.name(label, colons: true)
    let labels = dimensions.map { Label(name: PrometheusText.name($0.0, colons: false), value: $0.1) }
      .sorted()
    let series: Series? = families.withLock { families in
      var family = families.removeValue(forKey: name) ?? Family(kind: kind, description: descriptions[name])
      defer { families[name] = family }
      guard family.kind == kind else { return nil }
      if let known = family.series[labels] { return known }
      guard family.series.count < seriesPerFamily else { return nil }
      let series = Series(kind, buckets: (family.description ?? Description("")).buckets)
      family.series[labels] = series
      return series
    }
    if let series { return series }
    refused.increment(by: Int64(1))
    return Series(kind, buckets: [])
  }

  // MARK: MetricsFactory

  /// Returns a counter, which only increases.
  package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    series(label, dimensions, .counter)
  }

  /// Returns a floating-point counter, which only increases.
  package func makeFloatingPointCounter(
    label: String, dimensions: [(String, String)]
  ) -> any FloatingPointCounterHandler {
    series(label, dimensions, .counter)
  }

  /// Returns a gauge.
  package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    series(label, dimensions, .gauge)
  }

  /// Returns a histogram if `aggregate` is true, otherwise a gauge.
  package func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    series(label, dimensions, aggregate ? .histogram : .gauge)
  }

  /// Returns a histogram in seconds.
  package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    series(label, dimensions, .histogram)
  }

  /// Removes the counter's series.
  package func destroyCounter(_ handler: any CounterHandler) { remove(handler) }
  /// Removes the counter's series.
  package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { remove(handler) }
  /// Removes the meter's series.
  package func destroyMeter(_ handler: any MeterHandler) { remove(handler) }
  /// Removes the recorder's series.
  package func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }
  /// Removes the timer's series.
  package func destroyTimer(_ handler: any TimerHandler) { remove(handler) }

  private func remove(_ handler: AnyObject) {
    families.withLock { families in
      for (name, family) in families {
        guard let labels = family.series.first(where: { $0.value === handler })?.key else { continue }
        families[name]?.series[labels] = nil
      }
    }
  }
}
