import SystemIO

/// A time with a resolution of one second, in UTC, in the format of HTTP fields (RFC 9110 §5.6.7).
public struct HTTPDate: Sendable, Hashable, Comparable, LosslessStringConvertible {
  /// Seconds since 1970.
  public let secondsSince1970: Int64

  /// Creates a date, clamped to the years 1970 to 9999, which are the ones that the format can express.
  public init(secondsSince1970: Int64) {
    self.secondsSince1970 = min(max(secondsSince1970, 0), 253_402_300_799)
  }

  /// Reads the three formats that a recipient must accept: `Sun, 06 Nov 1994 08:49:37 GMT`,
  /// `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`. Returns `nil` for any other text. Does not check
  /// the day of the week. Years of two digits are read as 1970 to 2069.
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
      minute < 60, second <= 60, year >= 1970,
      let date = CalendarDate(year: year, month: month + 1, day: day)
    else { return nil }
    let seconds = hour * 3600 + minute * 60 + second
    self.init(secondsSince1970: Int64(date.daysSince1970 * 86_400 + seconds))
  }

  /// The preferred format, `Sun, 06 Nov 1994 08:49:37 GMT`.
  public var description: String {
    let (days, second) = Int(secondsSince1970).quotientAndRemainder(dividingBy: 86_400)
    let date = CalendarDate(daysSince1970: days)
    let clock = [second / 3600, second / 60 % 60, second % 60].map(Self.twoDigits).joined(separator: ":")
    return
      "\(Self.days[date.weekday]), \(Self.twoDigits(date.day)) \(Self.months[date.month - 1]) \(date.year) \(clock) GMT"
  }

  /// Orders dates by time.
  public static func < (left: HTTPDate, right: HTTPDate) -> Bool {
    left.secondsSince1970 < right.secondsSince1970
  }

  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func number(_ text: String, digits: ClosedRange<Int>) -> Int? {
    guard digits.contains(text.utf8.count), text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
      return nil
    }
    return Int(text)
  }

  private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
