/// A date of the proleptic Gregorian calendar (ISO 8601), in any year. All conversions between dates and day numbers
/// are here.
package struct CalendarDate: Sendable, Hashable {
  package let year: Int
  /// From 1 to 12.
  package let month: Int
  /// From 1 to 31.
  package let day: Int

  /// Creates a date from year, month and day; `nil` if the calendar has no such date.
  package init?(year: Int, month: Int, day: Int) {
    guard (1...12).contains(month), (1...Self.days(of: month, in: year)).contains(day) else { return nil }
    self.year = year
    self.month = month
    self.day = day
  }

  /// Creates the date that is `days` days after 1 January 1970.
  package init(daysSince1970 days: Int) {
    // Computed with years that begin in March, so that the leap day comes last, and in eras of 400 years.
    let (era, dayOfEra) = (days + 719_468).flooredQuotientAndRemainder(dividingBy: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let march = (5 * dayOfYear + 2) / 153
    month = march < 10 ? march + 3 : march - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    day = dayOfYear - (153 * march + 2) / 5 + 1
  }

  /// The number of days since 1 January 1970.
  package var daysSince1970: Int {
    let march = month > 2 ? month - 3 : month + 9
    let (era, yearOfEra) = (month > 2 ? year : year - 1).flooredQuotientAndRemainder(dividingBy: 400)
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + (march * 153 + 2) / 5 + day - 1
    return era * 146_097 + dayOfEra - 719_468
  }

  /// The day of the week, from 0 (Sunday) to 6.
  package var weekday: Int { (daysSince1970 + 4).flooredQuotientAndRemainder(dividingBy: 7).remainder }

  private static func days(of month: Int, in year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

extension Int {
  /// The quotient, rounded down, and the remainder, which is never negative.
  func flooredQuotientAndRemainder(dividingBy divisor: Int) -> (quotient: Int, remainder: Int) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
