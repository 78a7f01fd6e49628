import Foundation

/// A measured quantity.
enum Metric: String, Codable {
  case requestsPerSecond = "requests/s"
  case p99 = "p99, ms"
  case idleP99 = "p99 idle, ms"
  case cpuMilliseconds = "CPU ms each"
  case megabytesPerSecond = "MB/s"
  case cpuPerGigabyte = "CPU s/GB"
  case residentMegabytes = "RSS, MB"
  case peakMegabytes = "peak RSS, MB"
  case milliseconds = "ms"
  case seconds = "s"
  case cpuSeconds = "CPU s"
  case megabytes = "MB"
  case flushesPerUpload = "flushes/upload"
  /// The load of the generator's core, 0 to 1.
  case generatorLoad = "generator"

  var sign: String { moreIsBetter ? "≥" : "≤" }

  var moreIsBetter: Bool { self == .requestsPerSecond || self == .megabytesPerSecond }

  func format(_ value: Double) -> String {
    guard value.isFinite else { return "–" }
    let digits = value >= 1000 ? 0 : value >= 100 ? 1 : value >= 1 ? 2 : 3
    return value.formatted(.number.precision(.fractionLength(digits)).locale(.init(identifier: "en")))
  }
}
