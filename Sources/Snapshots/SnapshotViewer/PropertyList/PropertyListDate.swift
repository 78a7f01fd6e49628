import SystemIO

/// Dates as text.
enum PropertyListDate {
  /// The time in RFC 3339 format, with milliseconds if it has some. A time outside the years 0 to 9999 is written as the
  /// number of seconds since 1970.
  static func text(secondsSince1970 seconds: Double) -> String {
    let range = Double(UTCTime.range.lowerBound) / 1000...Double(UTCTime.range.upperBound) / 1000
    guard range.contains(seconds) else { return "\(seconds) seconds since 1970" }
    let text = UTCTime(secondsSince1970: seconds).description
    return text.hasSuffix(".000Z") ? text.dropLast(5) + "Z" : text
  }

  /// Whether `text` is a date as XML property lists contain it.
  static func isDate(_ text: ArraySlice<UInt8>) -> Bool { UTCTime.milliseconds(rfc3339: text) != nil }
}
