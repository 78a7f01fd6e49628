/// How many requests may come in how long: all at once at first, then as the time goes by.
public struct RateLimit: Sendable, Hashable, Codable, LosslessStringConvertible {
  /// The most requests, and the most seconds.
  public static let range = 1...1_000_000
  /// How many requests.
  public let count: Int
  /// In how many seconds.
  public let seconds: Int

  /// `count` requests in `seconds`, each within ``range``, else `nil`.
  public init?(count: Int, seconds: Int) {
    guard Self.range.contains(count), Self.range.contains(seconds) else { return nil }
    self.count = count
    self.seconds = seconds
  }

  /// Reads `100/min`, with one of `s`, `min`, `h` and `d`; or `100/90s`.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let count = Int(parts[0]) else { return nil }
    guard let seconds = Self.seconds(parts[1]) else { return nil }
    self.init(count: count, seconds: seconds)
  }

  /// Reads `s`, `min`, `h`, `d`, or so many of them, like `90s`.
  static func seconds(_ text: Substring) -> Int? {
    let time = text.prefix { $0.isASCII && $0.isNumber }
    let units = ["s": 1, "min": 60, "h": 3600, "d": 86_400]
    guard let unit = units[String(text.dropFirst(time.count))], let number = time.isEmpty ? 1 : Int(time)
    else { return nil }
    let (seconds, overflow) = number.multipliedReportingOverflow(by: unit)
    return overflow ? nil : seconds
  }

  /// What ``seconds(_:)`` reads.
  static func text(ofSeconds seconds: Int) -> String {
    switch seconds {
    case 1: "s"
    case 60: "min"
    case 3600: "h"
    case 86_400: "d"
    default: "\(seconds)s"
    }
  }

  /// Reads what ``encode(to:)`` wrote; one out of range is refused.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let limit = RateLimit(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "This is no rate.")
    }
    self = limit
  }

  /// Writes ``description``.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }

  /// `100/min`.
  public var description: String { "\(count)/\(Self.text(ofSeconds: seconds))" }
}
