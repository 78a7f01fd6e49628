import Foundation
import SystemIO
import TestSupport
import Testing

@Suite struct CalendarDateTests {
  @Test(
    arguments: [
      (0, 1970, 1, 1), (-1, 1969, 12, 31), (59, 1970, 3, 1), (11_016, 2000, 2, 29), (11_017, 2000, 3, 1),
      (47_540, 2100, 2, 28), (47_541, 2100, 3, 1), (-719_528, 0, 1, 1), (-719_469, 0, 2, 29),
      (-719_529, -1, 12, 31), (2_932_896, 9999, 12, 31),
    ] as [(Int, Int, Int, Int)])
  func `a day number is converted to its date and back`(days: Int, year: Int, month: Int, day: Int) {
    let date = CalendarDate(daysSince1970: days)
    #expect((date.year, date.month, date.day) == (year, month, day))
    #expect(CalendarDate(year: year, month: month, day: day) == date)
    #expect(date.daysSince1970 == days)
  }

  @Test(arguments: [
    (2023, 2, 29), (1900, 2, 29), (2000, 2, 30), (2024, 4, 31), (2024, 0, 1), (2024, 13, 1), (2024, 1, 0),
    (2024, 12, 32),
  ])
  func `a date that does not exist is rejected`(year: Int, month: Int, day: Int) {
    #expect(CalendarDate(year: year, month: month, day: day) == nil)
  }

  @Test func `the days of eight centuries are consecutive and have Foundation's weekdays`() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
    var before = CalendarDate(daysSince1970: -146_098)
    for days in -146_097...146_097 {
      let date = CalendarDate(daysSince1970: days)
      let isNext =
        (date.year, date.month, date.day) == (before.year, before.month, before.day + 1)
        || (date.year, date.month, date.day) == (before.year, before.month + 1, 1)
        || (date.year, date.month, date.day) == (before.year + 1, 1, 1)
      guard isNext, date.daysSince1970 == days, date.weekday == (before.weekday + 1) % 7 else {
        Issue.record("\(days) is \(date)")
        return
      }
      before = date
    }
    for days in stride(from: -100_000, through: 100_000, by: 997) {
      let moment = Date(timeIntervalSince1970: Double(days) * 86_400)
      #expect(CalendarDate(daysSince1970: days).weekday == calendar.component(.weekday, from: moment) - 1)
    }
  }
}
