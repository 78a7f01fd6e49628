public import Foundation
import SystemIO

/// The one way that JSON is written and read here: sorted keys, plain slashes, and dates in RFC 3339, UTC,
/// with milliseconds.
public enum SnapshotJSON {
  /// Encodes `value`, with line breaks where people will read it.
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

  /// Decodes a `type` from `data`; dates may come with or without fractions of a second.
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

  /// The time that `text` is in RFC 3339, to the millisecond; else `nil`.
  public static func time(_ text: String) -> Date? {
    UTCTime.milliseconds(rfc3339: Array(text.utf8)[...]).map {
      Date(timeIntervalSince1970: Double($0) / 1000)
    }
  }

  /// `date` as far as JSON keeps it: to the millisecond, in the years 0000 to 9999 that RFC 3339 can write.
  public static func milliseconds(of date: Date) -> Date {
    let (first, last) = (Double(UTCTime.range.lowerBound), Double(UTCTime.range.upperBound))
    let milliseconds = min(max((date.timeIntervalSince1970 * 1000).rounded(), first), last)
    return Date(timeIntervalSince1970: milliseconds / 1000)
  }

  /// `date` in RFC 3339, UTC, with milliseconds.
  public static func text(of date: Date) -> String {
    UTCTime(secondsSince1970: date.timeIntervalSince1970).description
  }
}
