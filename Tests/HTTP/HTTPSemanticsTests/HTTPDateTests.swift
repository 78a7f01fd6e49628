import Foundation
import HTTPSemantics
import Testing

@Suite struct HTTPDateTests {
  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
  ])
  func `all three formats are read`(text: String) {
    #expect(HTTPDate(text)?.secondsSince1970 == 784_111_777)
  }

  @Test(arguments: [
    (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"),
    (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
    (951_868_799, "Tue, 29 Feb 2000 23:59:59 GMT"), (951_868_800, "Wed, 01 Mar 2000 00:00:00 GMT"),
    (1_795_251_600, "Sat, 21 Nov 2026 09:00:00 GMT"), (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
    (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
  ])
  func `a date is written in the preferred format and can be read`(seconds: Int64, text: String) {
    #expect(HTTPDate(secondsSince1970: seconds).description == text)
    #expect(HTTPDate(text)?.secondsSince1970 == seconds)
  }

  @Test func `the days of more than a century agree with Foundation`() {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(identifier: "GMT")
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    for day in stride(from: Int64(0), to: 50_000, by: 37) {
      let seconds = day * 86400 + day % 86400
      let expected = formatter.string(from: Date(timeIntervalSince1970: TimeInterval(seconds)))
      #expect(HTTPDate(secondsSince1970: seconds).description == expected)
    }
  }

  @Test(arguments: [
    "", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Feb 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
    "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 1969 08:49:37 GMT",
    "Sun, -6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 19944 08:49:37 GMT",
    "Thu, 29 Feb 2100 00:00:00 GMT", "Sun, 06 Nov 1994 08:49:37:00 GMT",
  ])
  func `invalid dates are rejected`(text: String) {
    #expect(HTTPDate(text) == nil)
  }

  @Test func `years of two digits are from 1970 to 2069`() {
    #expect(HTTPDate("Sunday, 06-Nov-69 08:49:37 GMT")?.description == "Wed, 06 Nov 2069 08:49:37 GMT")
    #expect(HTTPDate("Sunday, 06-Nov-70 08:49:37 GMT")?.description == "Fri, 06 Nov 1970 08:49:37 GMT")
  }

  @Test func `dates are clamped to the range of the format`() {
    #expect(HTTPDate(secondsSince1970: .min).secondsSince1970 == 0)
    #expect(HTTPDate(secondsSince1970: .max).description == "Fri, 31 Dec 9999 23:59:59 GMT")
  }
}
