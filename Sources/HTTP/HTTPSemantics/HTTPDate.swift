/// A time as HTTP writes it, to the second, in UTC (RFC 9110 §5.6.7).
public struct HTTPDate: Sendable, Hashable, Comparable, LosslessStringConvertible {
  /// Seconds since 1970.
  public let secondsSince1970: Int64

  /// The time so many seconds after the beginning of 1970, held to the years 1970 to 9999 that the form can write.
  public init(secondsSince1970: Int64) {
    self.secondsSince1970 = min(max(secondsSince1970, 0), 253_402_300_799)
  }

  /// Reads the three forms that a recipient must know: `Sun, 06 Nov 1994 08:49:37 GMT`,
  /// `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`; else `nil`. The day of the week is not
  /// held against the date. Years of two digits are those from 1970 to 2069.
  public init?(_ text: String) {
    let parts = text.split(separator: " ").map(String.init)
    let isGMT = parts.last == "GMT" && parts[0].last == ","
    let fields: (day: String, month: String, year: String, time: String)
    switch parts.count {
    case 6 where isGMT: fields = (parts[1], parts[2], parts[3], parts[4])
    case 5 where Self.days.contains(parts[0]): fields = (parts[2], parts[1], parts[4], parts[3])
    case 4 where isGMT:
      let date = parts[1].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
      guard date.count == 3 else { return nil }
      fields = (date[0], date[1], date[2], parts[2])
    default: return nil
    }
    guard let day = Self.number(fields.day, digits: 1...2),
      let month = Self.months.firstIndex(of: fields.month),
      var year = Self.number(fields.year, digits: 2...4)
    else { return nil }
    if fields.year.utf8.count == 2 { year += year < 70 ? 2000 : 1900 }
    let clock = fields.time.split(separator: ":", omittingEmptySubsequences: false)
      .map { Self.number(String($0), digits: 2...2) }
    guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2], hour < 24,
      minute < 60, second <= 60, year >= 1970, day >= 1, day <= Self.length(ofMonth: month + 1, year)
    else { return nil }
    let seconds = hour * 3600 + minute * 60 + second
    self.init(secondsSince1970: Self.dayNumber(year, month + 1, day) * 86400 + seconds)
  }

  /// The preferred form, `Sun, 06 Nov 1994 08:49:37 GMT`.
  public var description: String {
    let (dayNumber, second) = secondsSince1970.quotientAndRemainder(dividingBy: 86400)
    let (year, month, day) = Self.civil(dayNumber)
    let weekday = Self.days[Int((dayNumber + 4) % 7)]
    let clock = [second / 3600, second / 60 % 60, second % 60].map(Self.twoDigits).joined(separator: ":")
    return "\(weekday), \(Self.twoDigits(day)) \(Self.months[Int(month - 1)]) \(year) \(clock) GMT"
  }

  /// By time.
  public static func < (left: HTTPDate, right: HTTPDate) -> Bool {
    left.secondsSince1970 < right.secondsSince1970
  }

  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func number(_ text: String, digits: ClosedRange<Int>) -> Int64? {
    guard digits.contains(text.utf8.count), text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
      return nil
    }
    return Int64(text)
  }

  private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

  private static func length(ofMonth month: Int, _ year: Int64) -> Int64 {
    let next = month == 12 ? dayNumber(year + 1, 1, 1) : dayNumber(year, month + 1, 1)
    return next - dayNumber(year, month, 1)
  }

  /// Days since 1970 of a date of the Gregorian calendar, counted in years that begin in March, so that the leap
  /// day comes last.
  private static func dayNumber(_ year: Int64, _ month: Int, _ day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = year.quotientAndRemainder(dividingBy: 400)
    let dayOfYear = (153 * Int64((month + 9) % 12) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func civil(_ dayNumber: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = (dayNumber + 719_468).quotientAndRemainder(dividingBy: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }
}
