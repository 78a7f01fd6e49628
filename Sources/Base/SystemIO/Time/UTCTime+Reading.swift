extension UTCTime {
  /// The moment that `text` is in RFC 3339 (§5.6), in milliseconds since the beginning of 1970: the nearest one in
  /// ``range``. `nil` where it has another form, or names a day or second that does not exist.
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
      // Places differ by 14 hours at most.
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

  /// The forms of a time and of an offset, with a 0 for any digit.
  private static let form: StaticString = "0000-00-00T00:00:00"
  private static let east: StaticString = "+00:00"
  private static let west: StaticString = "-00:00"

  /// Whether `bytes` are `form`, with any digit for each `0`.
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
