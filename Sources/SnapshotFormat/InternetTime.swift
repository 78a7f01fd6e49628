/// The grammar of times in RFC 3339 §5.6; Foundation's reader also takes the 30th of February, an hour 25 and
/// whatever follows the `Z`.
enum InternetTime {
  /// Whether `text` is a time of that form, of a day and a second that there can be.
  static func isValid(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count >= 20, matches(bytes[..<19], "0000-00-00T00:00:00") else { return false }
    var rest = bytes[19...]
    if rest.first == UInt8(ascii: ".") {
      let end = rest.dropFirst().firstIndex { !isDigit($0) } ?? rest.endIndex
      // Nanoseconds are the finest that Foundation reads.
      guard (1...9).contains(end - rest.startIndex - 1) else { return false }
      rest = rest[end...]
    }
    func number(_ start: Int, _ count: Int = 2) -> Int {
      bytes[start..<start + count].reduce(0) { $0 * 10 + Int($1 & 15) }
    }
    if !rest.elementsEqual("Z".utf8) {
      guard matches(rest, "+00:00") || matches(rest, "-00:00") else { return false }
      let (hours, minutes) = (number(rest.startIndex + 1), number(rest.startIndex + 4))
      // Places differ by 14 hours at most; Foundation reads no more than 18.
      guard minutes <= 59, hours * 60 + minutes <= 18 * 60 else { return false }
    }
    let (year, month) = (number(0, 4), number(5))
    return (1...12).contains(month) && (1...days(of: month, in: year)).contains(number(8))
      && number(11) <= 23 && number(14) <= 59 && number(17) <= 59
  }

  /// Whether `bytes` are `form`, with any digit for each `0`.
  private static func matches(_ bytes: ArraySlice<UInt8>, _ form: String) -> Bool {
    bytes.count == form.utf8.count
      && zip(bytes, form.utf8).allSatisfy { $1 == UInt8(ascii: "0") ? isDigit($0) : $0 == $1 }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func days(of month: Int, in year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}
