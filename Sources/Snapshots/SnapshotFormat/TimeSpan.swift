/// A duration as an integer and a unit, one of `s`, `m`, `h`, `d`, `w`: for example `30d`.
///
/// The range is from one second to 36,500 days.
public struct TimeSpan: Hashable, Sendable, Comparable, LosslessStringConvertible {
  /// The longest duration in seconds: 36,500 days.
  public static let maximumSeconds: Int64 = 36_500 * 86_400

  /// The duration in seconds.
  public let seconds: Int64

  /// One hour.
  public static let hour = TimeSpan(exactly: 3600)
  /// Thirty days.
  public static let month = TimeSpan(exactly: 30 * 86_400)

  private init(exactly seconds: Int64) { self.seconds = seconds }

  private static let units: [(letter: Character, seconds: Int64)] = [
    ("w", 604_800), ("d", 86_400), ("h", 3600), ("m", 60), ("s", 1),
  ]

  /// Creates a duration in seconds; `nil` if it is not from 1 to ``maximumSeconds``.
  public init?(seconds: Int64) {
    guard (1...Self.maximumSeconds).contains(seconds) else { return nil }
    self.seconds = seconds
  }

  /// Parses an integer and a unit, as in ``description``; `nil` for any other text.
  public init?(_ text: String) {
    guard let unit = Self.units.first(where: { $0.letter == text.last }),
      text.dropLast().utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let count = Int64(text.dropLast())
    else { return nil }
    let (seconds, overflow) = count.multipliedReportingOverflow(by: unit.seconds)
    guard !overflow else { return nil }
    self.init(seconds: seconds)
  }

  /// The duration in the largest unit that gives an integer, except weeks: they are shown in days.
  public var description: String {
    let unit = Self.units.dropFirst().first { seconds % $0.seconds == 0 } ?? ("s", 1)
    return "\(seconds / unit.seconds)\(unit.letter)"
  }

  /// Whether the left duration is shorter.
  public static func < (left: Self, right: Self) -> Bool { left.seconds < right.seconds }
}

extension TimeSpan: Codable {
  /// Decodes the text form. Throws a `DecodingError` for anything else.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let span = TimeSpan(text) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "‘\(text)’ is not a duration such as 30d"))
    }
    self = span
  }

  /// Encodes the text form.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
