/// A point in time in UTC with millisecond precision, formatted as in RFC 3339. Uses integer arithmetic, because binary
/// fractions would place some times just below a millisecond.
public struct UTCTime: Sendable, Hashable, CustomStringConvertible {
  /// The range that RFC 3339 can represent, the years 0000 to 9999, in milliseconds since 1970.
  package static let range: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

  private let date: CalendarDate
  /// Milliseconds since the beginning of the day.
  private let milliseconds: Int

  /// From 0 to 9999.
  public var year: Int { date.year }
  /// From 1 to 12.
  public var month: Int { date.month }
  /// From 1 to 31.
  public var day: Int { date.day }

  /// Creates a time from the milliseconds since 1970, clamped to the years 0 to 9999.
  public init(millisecondsSince1970: Int64) {
    let (days, milliseconds) = Int(Self.held(millisecondsSince1970))
      .flooredQuotientAndRemainder(dividingBy: 86_400_000)
    date = CalendarDate(daysSince1970: days)
    self.milliseconds = milliseconds
  }

  /// Creates a time from the seconds since 1970, rounded to the nearest millisecond and clamped to the years 0 to 9999.
  package init(secondsSince1970 seconds: Double) {
    let milliseconds = (seconds * 1000).rounded()
    let (first, last) = (Double(Self.range.lowerBound), Double(Self.range.upperBound))
    self.init(millisecondsSince1970: Int64(milliseconds >= first ? min(milliseconds, last) : first))
  }

  static func held(_ milliseconds: Int64) -> Int64 {
    min(max(milliseconds, range.lowerBound), range.upperBound)
  }

  /// The time in RFC 3339 format, such as `1994-11-06T08:49:37.000Z`.
  public var description: String {
    var text: [UInt8] = []
    text.reserveCapacity(24)
    append(to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// Appends ``description`` in UTF-8.
  public func append(to text: inout [UInt8]) {
    func append(_ number: Int) {
      text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10))
      text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
    }
    func append(_ number: Int, _ end: Unicode.Scalar) {
      append(number)
      text.append(UInt8(ascii: end))
    }
    append(year / 100)
    append(year % 100, "-")
    append(month, "-")
    append(day, "T")
    append(milliseconds / 3_600_000, ":")
    append(milliseconds / 60_000 % 60, ":")
    append(milliseconds / 1000 % 60, ".")
    text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: milliseconds / 100 % 10))
    append(milliseconds % 100, "Z")
  }
}

extension UTCTime {
  /// Parses a time in RFC 3339 format (§5.6).
  /// - Returns: The milliseconds since 1970, clamped to ``range``; `nil` if the format is different or the day or
  ///   second does not exist. Leap seconds are not accepted.
  package static func milliseconds(rfc3339 text: ArraySlice<UInt8>) -> Int64? {
    let first = text.startIndex
    guard text.count >= 20, matches(text[first..<first + 19], form) else { return nil }
    func number(_ start: Int, _ count: Int = 2) -> Int {
      var number = 0
      for index in first + start..<first + start + count { number = number * 10 + Int(text[index] & 15) }
      return number
    }
    var rest = text[(first + 19)...]
    var nanoseconds = 0
    if rest.first == UInt8(ascii: ".") {
      let end = rest.dropFirst().firstIndex { !isDigit($0) } ?? rest.endIndex
      let digits = end - rest.startIndex - 1
      guard (1...9).contains(digits) else { return nil }
      nanoseconds = number(20, digits)
      for _ in digits..<9 { nanoseconds *= 10 }
      rest = rest[end...]
    }
    var offset = 0
    if rest.count != 1 || rest.first != UInt8(ascii: "Z") {
      guard matches(rest, east) || matches(rest, west) else { return nil }
      let (hours, minutes) = (number(rest.startIndex - first + 1), number(rest.startIndex - first + 4))
      // The offsets in use are at most 14 hours.
      guard minutes <= 59, hours * 60 + minutes <= 18 * 60 else { return nil }
      offset = (hours * 60 + minutes) * (rest.first == UInt8(ascii: "-") ? -60 : 60)
    }
    let (hour, minute, second) = (number(11), number(14), number(17))
    guard let date = CalendarDate(year: number(0, 4), month: number(5), day: number(8)), hour <= 23,
      minute <= 59, second <= 59
    else { return nil }
    let seconds = date.daysSince1970 * 86_400 + hour * 3600 + minute * 60 + second - offset
    return held(Int64(seconds * 1000 + (nanoseconds + 500_000) / 1_000_000))
  }

  /// The formats of a time and of an offset; each `0` stands for any digit.
  private static let form: StaticString = "0000-00-00T00:00:00"
  private static let east: StaticString = "+00:00"
  private static let west: StaticString = "-00:00"

  /// Whether `bytes` match `form`, in which each `0` stands for any digit.
  private static func matches(_ bytes: ArraySlice<UInt8>, _ form: StaticString) -> Bool {
    guard bytes.count == form.utf8CodeUnitCount else { return false }
    for index in 0..<bytes.count {
      let (byte, expected) = (bytes[bytes.startIndex + index], form.utf8Start[index])
      guard byte == expected || expected == UInt8(ascii: "0") && isDigit(byte) else { return false }
    }
    return true
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
