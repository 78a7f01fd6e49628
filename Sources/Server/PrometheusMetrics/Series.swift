import CoreMetrics
import SystemIO

/// The values of one set of labels in a family.
final class Series: Sendable {
  enum Kind: String { case counter, gauge, histogram }

  private struct State {
    /// A counter's or gauge's value; a histogram's sum.
    var value = 0.0
    /// The sum of a counter's integer increments. A `Double` would round it from 2⁵³ on.
    var whole: Int64 = 0
    var count: Int64 = 0
    /// The number of observations in each bucket, and above the last bound.
    var buckets: [Int64]
  }

  private let kind: Kind
  private let bounds: [Double]
  private let state: Lock<State>

  init(_ kind: Kind, buckets: [Double]) {
    self.kind = kind
    bounds = kind == .histogram ? buckets : []
    state = Lock(State(buckets: kind == .histogram ? Array(repeating: 0, count: buckets.count + 1) : []))
  }

  private func observe(_ value: Double) {
    var index = 0
    while index < bounds.count, value > bounds[index] { index += 1 }
    state.withLock { state in
      state.buckets[index] += 1
      state.count += 1
      state.value += value
    }
  }

  func append(to text: inout String, _ name: String, _ labels: [Label]) {
    let state = state.withLock { $0 }
    let braced = PrometheusText.braced(labels)
    switch kind {
    case .counter where state.value == 0: text += "\(name)\(braced) \(state.whole)\n"
    case .counter:
      text += "\(name)\(braced) \(PrometheusText.number(state.value + Double(state.whole)))\n"
    case .gauge: text += "\(name)\(braced) \(PrometheusText.number(state.value))\n"
    case .histogram:
      var count: Int64 = 0
      for (bound, inBucket) in zip(bounds + [.infinity], state.buckets) {
        count += inBucket
        let bucket = PrometheusText.braced(labels + [Label(name: "le", value: PrometheusText.number(bound))])
        text += "\(name)_bucket\(bucket) \(count)\n"
      }
      text += "\(name)_sum\(braced) \(PrometheusText.number(state.value))\n"
      text += "\(name)_count\(braced) \(state.count)\n"
    }
  }
}

extension Series: CounterHandler, FloatingPointCounterHandler {
  /// Adds a positive amount. The value saturates instead of overflowing.
  func increment(by amount: Int64) {
    guard amount > 0 else { return }
    state.withLock { state in
      let (sum, overflow) = state.whole.addingReportingOverflow(amount)
      state.whole = overflow ? .max : sum
    }
  }

  func increment(by amount: Double) {
    if kind == .gauge {
      state.withLock { $0.value += amount }
    } else if amount > 0 {
      state.withLock { $0.value += amount }
    }
  }

  func reset() { state.withLock { $0 = State(buckets: $0.buckets.map { _ in 0 }) } }
}

extension Series: MeterHandler, RecorderHandler, TimerHandler {
  func set(_ value: Int64) { set(Double(value)) }
  func set(_ value: Double) { state.withLock { $0.value = value } }
  func decrement(by amount: Double) { state.withLock { $0.value -= amount } }
  func record(_ value: Int64) { record(Double(value)) }
  func record(_ value: Double) { if kind == .histogram { observe(value) } else { set(value) } }
  func recordNanoseconds(_ duration: Int64) { observe(Double(duration) / 1_000_000_000) }
  func preferDisplayUnit(_ unit: TimeUnit) {}
}
