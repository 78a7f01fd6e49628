/// Times as in RFC 3339 §5.6, in milliseconds since the beginning of 1970, by the calendar of today in all years
/// (ISO 8601); in whole numbers, as binary fractions leave something just below a millisecond.
enum InternetTime {
  /// From the first millisecond of the year 0000 to the last of 9999.
  static let range: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

  /// The time that `text` is, to the nearest millisecond in ``range``; `nil` where it is not of that form, or of no day
  /// and second that there can be.
  static func milliseconds(_ text: some Collection<UInt8>) -> Int64? { milliseconds(ArraySlice(text)) }

  /// The same of a part of other bytes, which is not copied.
  static func milliseconds(_ text: ArraySlice<UInt8>) -> Int64? {
    let first = text.startIndex
    guard text.count >= 20, matches(text[first..<first + 19], form) else { return nil }
    func number(_ start: Int, _ count: Int = 2) -> Int64 {
      var number: Int64 = 0
      for index in first + start..<first + start + count { number = number * 10 + Int64(text[index] & 15) }
      return number
    }
    var rest = text[(first + 19)...]
    var nanoseconds: Int64 = 0
    if rest.first == UInt8(ascii: ".") {
      let end = rest.dropFirst().firstIndex { !isDigit($0) } ?? rest.endIndex
      let digits = end - rest.startIndex - 1
      guard (1...9).contains(digits) else { return nil }
      nanoseconds = number(20, digits)
      for _ in digits..<9 { nanoseconds *= 10 }
      rest = rest[end...]
    }
    var offset: Int64 = 0
    if rest.count != 1 || rest.first != UInt8(ascii: "Z") {
      guard matches(rest, east) || matches(rest, west) else { return nil }
      let (hours, minutes) = (number(rest.startIndex - first + 1), number(rest.startIndex - first + 4))
      // Places differ by 14 hours at most.
      guard minutes <= 59, hours * 60 + minutes <= 18 * 60 else { return nil }
      offset = (hours * 60 + minutes) * (rest.first == UInt8(ascii: "-") ? -60 : 60)
    }
    let (year, month, day) = (number(0, 4), number(5), number(8))
    let (hour, minute, second) = (number(11), number(14), number(17))
    guard (1...12).contains(month), (1...days(of: month, in: year)).contains(day), hour <= 23, minute <= 59,
      second <= 59
    else { return nil }
    let seconds = days(before: year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset
    return clamped(seconds * 1000 + (nanoseconds + 500_000) / 1_000_000)
  }

  /// The time as text, in UTC, with milliseconds.
  static func text(_ milliseconds: Int64) -> String {
    let milliseconds = clamped(milliseconds)
    let day = floor(milliseconds, by: 86_400_000)
    let rest = milliseconds - day * 86_400_000
    let date = date(ofDay: day)
    var text: [UInt8] = []
    text.reserveCapacity(24)
    func append(_ number: Int64, _ digits: Int, _ end: Unicode.Scalar) {
      var divisor = (1..<digits).reduce(Int64(1)) { value, _ in value * 10 }
      while divisor > 0 {
        text.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
        divisor /= 10
      }
      text.append(UInt8(ascii: end))
    }
    append(date.year, 4, "-")
    append(date.month, 2, "-")
    append(date.day, 2, "T")
    append(rest / 3_600_000, 2, ":")
    append(rest / 60_000 % 60, 2, ":")
    append(rest / 1000 % 60, 2, ".")
    append(rest % 1000, 3, "Z")
    return String(decoding: text, as: UTF8.self)
  }

  private static func clamped(_ milliseconds: Int64) -> Int64 {
    min(max(milliseconds, range.lowerBound), range.upperBound)
  }

  /// The forms of a time and of how far its place is off, with a 0 where any digit may stand.
  private static let form: StaticString = "0000-00-00T00:00:00"
  private static let east: StaticString = "+00:00"
  private static let west: StaticString = "-00:00"

  /// Whether `bytes` are `form`, with any digit for each `0`.
  private static func matches(_ bytes: ArraySlice<UInt8>, _ form: StaticString) -> Bool {
    guard bytes.count == form.utf8CodeUnitCount else { return false }
    for index in 0..<bytes.count {
      let (byte, expected) = (bytes[bytes.startIndex + index], unsafe form.utf8Start[index])
      guard byte == expected || expected == UInt8(ascii: "0") && isDigit(byte) else { return false }
    }
    return true
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func days(of month: Int64, in year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  // Years begin in March below, so that the day that only some years have is their last.

  /// How many days lie between the beginning of 1970 and a day.
  private static func days(before year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let march = month > 2 ? month - 3 : month + 9
    let year = month > 2 ? year : year - 1
    let leapDays = floor(year, by: 4) - floor(year, by: 100) + floor(year, by: 400)
    return year * 365 + leapDays + (march * 153 + 2) / 5 + day - 1 - 719_468
  }

  /// The day that so many days lie between the beginning of 1970 and it.
  private static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let days = day + 719_468
    let era = floor(days, by: 146_097)
    let dayOfEra = days - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let march = (5 * dayOfYear + 2) / 153
    let month = march < 10 ? march + 3 : march - 9
    return (
      yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * march + 2) / 5 + 1
    )
  }

  private static func floor(_ value: Int64, by divisor: Int64) -> Int64 {
    value >= 0 ? value / divisor : -((divisor - 1 - value) / divisor)
  }
}
