/// A moment in UTC, to the millisecond, as RFC 3339 writes it. Computed in whole numbers: binary fractions would leave some
/// moments just below a millisecond.
public struct UTCTime: Sendable, Hashable, CustomStringConvertible {
  /// The milliseconds since the beginning of 1970 that RFC 3339 can write: the years 0000 to 9999.
  package static let range: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

  private let date: CalendarDate
  /// Since the day began.
  private let milliseconds: Int

  /// From 0 to 9999.
  public var year: Int { date.year }
  /// From 1 to 12.
  public var month: Int { date.month }
  /// From 1 to 31.
  public var day: Int { date.day }

  /// The moment so many milliseconds after the beginning of 1970, held to the years 0 to 9999.
  public init(millisecondsSince1970: Int64) {
    let (days, milliseconds) = Int(Self.held(millisecondsSince1970))
      .flooredQuotientAndRemainder(dividingBy: 86_400_000)
    date = CalendarDate(daysSince1970: days)
    self.milliseconds = milliseconds
  }

  /// The moment so many seconds after the beginning of 1970, to the nearest millisecond, held to the years 0 to 9999.
  package init(secondsSince1970 seconds: Double) {
    let milliseconds = (seconds * 1000).rounded()
    let (first, last) = (Double(Self.range.lowerBound), Double(Self.range.upperBound))
    self.init(millisecondsSince1970: Int64(milliseconds >= first ? min(milliseconds, last) : first))
  }

  static func held(_ milliseconds: Int64) -> Int64 {
    min(max(milliseconds, range.lowerBound), range.upperBound)
  }

  /// The moment in RFC 3339, `1994-11-06T08:49:37.000Z`.
  public var description: String {
    var text: [UInt8] = []
    text.reserveCapacity(24)
    append(to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// Appends ``description`` in UTF-8.
  public func append(to text: inout [UInt8]) {
    func append(_ number: Int, _ unit: Int, _ end: Unicode.Scalar) {
      var unit = unit
      while unit > 0 {
        text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / unit % 10))
        unit /= 10
      }
      text.append(UInt8(ascii: end))
    }
    append(year, 1000, "-")
    append(month, 10, "-")
    append(day, 10, "T")
    append(milliseconds / 3_600_000, 10, ":")
    append(milliseconds / 60_000 % 60, 10, ":")
    append(milliseconds / 1000 % 60, 10, ".")
    append(milliseconds % 1000, 100, "Z")
  }
}
