public import CoreMetrics
import Synchronization

/// Keeps what is measured through swift-metrics, and tells it in Prometheus' text format (version 0.0.4).
///
/// A label of swift-metrics is the name of a family, its dimensions are the labels; what may not stand in a name is
/// replaced by `_`. Counters stay counters, meters and recorders that don't aggregate are gauges, and recorders that
/// do and timers are histograms with fixed buckets, timers in seconds. The same label and dimensions name the same
/// series, whoever asks. Safe to use from any thread; to measure takes one short lock and allocates nothing.
public final class PrometheusRegistry: MetricsFactory {
  /// What a family says of itself.
  public struct Description: Sendable {
    /// The line of help.
    public var help: String
    /// The upper bounds of a histogram's buckets, in ascending order, without the last that holds everything.
    public var buckets: [Double]

    /// Describes a family; buckets mean something for histograms alone.
    public init(_ help: String, buckets: [Double] = PrometheusRegistry.secondsBuckets) {
      self.help = help
      self.buckets = buckets
    }
  }

  /// From a tenth of a millisecond to a minute.
  public static let secondsBuckets: [Double] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60,
  ]
  /// The value of `Content-Type` for ``text()``.
  public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  private struct Family {
    let kind: Series.Kind
    let description: Description?
    var series: [[Label]: Series] = [:]
  }

  /// The most series of one family. What is measured beyond goes nowhere: a label that takes any value that comes
  /// would otherwise fill the memory. `metrics_series_refused` counts them.
  public let seriesPerFamily: Int
  private let descriptions: [String: Description]
  private let families = Mutex<[String: Family]>([:])
  private let refused = Series(.counter, buckets: [])

  /// A registry in which nothing is measured yet.
  /// - Parameter describing: what the families say of themselves, by name.
  public init(describing descriptions: [String: Description] = [:], seriesPerFamily: Int = 1000) {
    self.descriptions = descriptions
    self.seriesPerFamily = seriesPerFamily
    let name = "metrics_series_refused"
    let help = Description("Series beyond the limit of their family, or of another kind than it.")
    families.withLock {
      $0[name] = Family(kind: .counter, description: help, series: [[]: refused])
    }
  }

  /// Everything as text: families by name, series by labels, each line ended.
  public func text() -> String {
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

  /// A counter, which only goes up.
  public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    series(label, dimensions, .counter)
  }

  /// A counter of fractions, which only goes up.
  public func makeFloatingPointCounter(
    label: String, dimensions: [(String, String)]
  ) -> any FloatingPointCounterHandler {
    series(label, dimensions, .counter)
  }

  /// A gauge.
  public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    series(label, dimensions, .gauge)
  }

  /// A histogram where it is to aggregate, else a gauge.
  public func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    series(label, dimensions, aggregate ? .histogram : .gauge)
  }

  /// A histogram in seconds.
  public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    series(label, dimensions, .histogram)
  }

  /// Tells of it no more.
  public func destroyCounter(_ handler: any CounterHandler) { remove(handler) }
  /// Tells of it no more.
  public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { remove(handler) }
  /// Tells of it no more.
  public func destroyMeter(_ handler: any MeterHandler) { remove(handler) }
  /// Tells of it no more.
  public func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }
  /// Tells of it no more.
  public func destroyTimer(_ handler: any TimerHandler) { remove(handler) }

  private func remove(_ handler: AnyObject) {
    families.withLock { families in
      for (name, family) in families {
        guard let labels = family.series.first(where: { $0.value === handler })?.key else { continue }
        families[name]?.series[labels] = nil
      }
    }
  }
}
