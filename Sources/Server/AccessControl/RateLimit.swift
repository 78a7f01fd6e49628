/// A rate limit: a number of requests in a period. The whole number is available at first; used requests become
/// available again evenly over the period.
package struct RateLimit: Sendable, Hashable, Codable, LosslessStringConvertible {
  /// The allowed numbers of requests and of seconds.
  package static let range = 1...1_000_000
  /// The number of requests.
  package let count: Int
  /// The period in seconds.
  package let seconds: Int

  /// Creates a limit of `count` requests in `seconds`. Returns `nil` if one of them is outside ``range``.
  package init?(count: Int, seconds: Int) {
    guard Self.range.contains(count), Self.range.contains(seconds) else { return nil }
    self.count = count
    self.seconds = seconds
  }

  /// Reads `100/min`, or with `s`, `h` or `d`, or `100/90s`.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let count = Int(parts[0]) else { return nil }
    guard let seconds = Self.seconds(parts[1]) else { return nil }
    self.init(count: count, seconds: seconds)
  }

  /// Reads `s`, `min`, `h`, `d`, or a number with one of them, such as `90s`.
  package static func seconds(_ text: Substring) -> Int? {
    let time = text.prefix { $0.isASCII && $0.isNumber }
    let units = ["s": 1, "min": 60, "h": 3600, "d": 86_400]
    guard let unit = units[String(text.dropFirst(time.count))], let number = time.isEmpty ? 1 : Int(time)
    else { return nil }
    let (seconds, overflow) = number.multipliedReportingOverflow(by: unit)
    return overflow ? nil : seconds
  }

  /// Returns the text that ``seconds(_:)`` reads.
  package static func text(ofSeconds seconds: Int) -> String {
    switch seconds {
    case 1: "s"
    case 60: "min"
    case 3600: "h"
    case 86_400: "d"
    default: "\(seconds)s"
    }
  }

  /// Reads the format of ``encode(to:)``. Throws if a value is out of range.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let limit = RateLimit(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "This is not a rate limit.")
    }
    self = limit
  }

  /// Encodes ``description``.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }

  /// The limit as text, such as `100/min`.
  package var description: String { "\(count)/\(Self.text(ofSeconds: seconds))" }
}
