/// A moment as a date of the Gregorian calendar and a time of day in UTC, to the millisecond: reckoned in whole numbers,
/// for what is written with every request.
public struct UTCTime: Sendable, Hashable, CustomStringConvertible {
  /// From 0 to 9999.
  public let year: Int
  /// From 1 to 12.
  public let month: Int
  /// From 1 to 31.
  public let day: Int
  /// Since the day began.
  private let milliseconds: Int

  /// The moment so many milliseconds after the beginning of 1970, held to the years 0 to 9999 that RFC 3339 can write.
  public init(millisecondsSince1970: Int64) {
    let time = Int(min(max(millisecondsSince1970, -62_167_219_200_000), 253_402_300_799_999))
    let (days, milliseconds) = Self.divide(time, by: 86_400_000)
    // Counted in years that begin in March, so that the leap day comes last, and in eras of 400 of them.
    let (era, dayOfEra) = Self.divide(days + 719_468, by: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    self.month = month
    day = dayOfYear - (153 * shifted + 2) / 5 + 1
    self.milliseconds = milliseconds
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

  private static func divide(_ number: Int, by divisor: Int) -> (quotient: Int, remainder: Int) {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
