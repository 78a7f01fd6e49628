import ArgumentParser

/// A time span as people give it: `90s`, `15min`, `1h`, `30d`, `2w`.
struct TimeSpan: ExpressibleByArgument, Sendable, Hashable {
  /// The longest: ten years.
  static let maximumSeconds = 315_360_000
  let seconds: Int

  init?(argument: String) {
    let number = argument.prefix { $0.isASCII && $0.isNumber }
    let units = ["s": 1, "min": 60, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
    guard let count = Int(number), count > 0, let unit = units[String(argument.dropFirst(number.count))],
      count <= Self.maximumSeconds / unit
    else { return nil }
    seconds = count * unit
  }
}
