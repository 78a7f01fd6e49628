import Foundation

/// Dates as HTTP fields carry them (RFC 9110 §5.6.7).
enum HTTPDate {
  /// Reads the form that is sent today, `Sun, 06 Nov 1994 08:49:37 GMT`; the two obsolete ones are passed over.
  static func parse(_ text: String) -> Date? {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 6, parts[0].count == 4, parts[0].last == ",", parts[5] == "GMT",
      let day = number(parts[1], digits: 2), (1...31).contains(day),
      let month = months.firstIndex(of: String(parts[2])),
      let year = number(parts[3], digits: 4), year >= 1970
    else { return nil }
    let clock = parts[4].split(separator: ":", omittingEmptySubsequences: false)
    guard clock.count == 3, let hour = number(clock[0], digits: 2), hour < 24,
      let minute = number(clock[1], digits: 2), minute < 60,
      let second = number(clock[2], digits: 2), second <= 60
    else { return nil }
    let seconds = (days(year: year, month: month + 1, day: day) * 24 + hour) * 3600 + minute * 60 + second
    return Date(timeIntervalSince1970: Double(seconds))
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Days since 1970-01-01 in the Gregorian calendar; a year is taken to begin in March, so that leap days end it.
  private static func days(year: Int, month: Int, day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
  }

  private static func number(_ text: Substring, digits: Int) -> Int? {
    guard text.utf8.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text)
  }
}
