public import Foundation
import SystemIO

/// The JSON coding of this library: sorted keys, unescaped slashes, and dates in RFC 3339, in UTC with milliseconds.
public enum SnapshotJSON {
  /// Encodes `value`. If `pretty`, the result is formatted for readability.
  public static func encode(_ value: some Encodable, pretty: Bool = false) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if pretty { encoder.outputFormatting.insert(.prettyPrinted) }
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(text(of: date))
    }
    return try encoder.encode(value)
  }

  /// Decodes a `type` from `data`. Fractions of a second in dates are optional.
  public static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      let container = try decoder.singleValueContainer()
      let text = try container.decode(String.self)
      if let date = time(text) { return date }
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "‘\(text)’ is not a time as in RFC 3339")
    }
    return try decoder.decode(type, from: data)
  }

  /// Parses a time in RFC 3339, rounded to milliseconds; `nil` for any other text.
  public static func time(_ text: String) -> Date? {
    UTCTime.milliseconds(rfc3339: Array(text.utf8)[...]).map {
      Date(timeIntervalSince1970: Double($0) / 1000)
    }
  }

  /// `date` in the precision and range of the JSON form: rounded to milliseconds and clamped to the years 0000 to 9999.
  public static func milliseconds(of date: Date) -> Date {
    let (first, last) = (Double(UTCTime.range.lowerBound), Double(UTCTime.range.upperBound))
    let milliseconds = min(max((date.timeIntervalSince1970 * 1000).rounded(), first), last)
    return Date(timeIntervalSince1970: milliseconds / 1000)
  }

  /// `date` in RFC 3339, in UTC with milliseconds.
  public static func text(of date: Date) -> String {
    UTCTime(secondsSince1970: date.timeIntervalSince1970).description
  }
}
