/// What one group of connections got done.
struct Load {
  /// Exchanges that were finished, and their bodies' bytes, sent and received.
  var exchanges = 0
  var bytes = 0
  /// From the first request to the last answer.
  var seconds = 0.0
  /// How long each exchange took, in nanoseconds.
  var latencies: [UInt64] = []
  /// How busy the generator's own core was, 0 to 1. Near 1, the generator is what is measured.
  var generatorLoad = 0.0

  var exchangesPerSecond: Double { seconds > 0 ? Double(exchanges) / seconds : 0 }
  var bytesPerSecond: Double { seconds > 0 ? Double(bytes) / seconds : 0 }

  /// What that part of the exchanges didn't exceed, in milliseconds.
  func milliseconds(percentile: Double) -> Double {
    guard !latencies.isEmpty else { return .nan }
    let sorted = latencies.sorted()
    let index = min(sorted.count - 1, Int((Double(sorted.count) * percentile).rounded(.down)))
    return Double(sorted[index]) / 1e6
  }
}
