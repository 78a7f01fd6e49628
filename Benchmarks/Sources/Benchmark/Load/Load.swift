/// The results of one group of connections.
struct Load {
  /// The number of completed exchanges, and the bytes of their bodies in both directions.
  var exchanges = 0
  var bytes = 0
  /// The time from the first request to the last response.
  var seconds = 0.0
  /// The duration of each exchange in nanoseconds.
  var latencies: [UInt64] = []
  /// The load of the generator's core, 0 to 1. Near 1, the generator limits the result.
  var generatorLoad = 0.0

  var exchangesPerSecond: Double { seconds > 0 ? Double(exchanges) / seconds : 0 }
  var bytesPerSecond: Double { seconds > 0 ? Double(bytes) / seconds : 0 }

  /// The latency at `percentile`, in milliseconds.
  func milliseconds(percentile: Double) -> Double {
    guard !latencies.isEmpty else { return .nan }
    let sorted = latencies.sorted()
    let index = min(sorted.count - 1, Int((Double(sorted.count) * percentile).rounded(.down)))
    return Double(sorted[index]) / 1e6
  }
}
