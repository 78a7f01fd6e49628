/// Finds personal data by its form: e-mail addresses, numbers of payment cards and phones, and UUIDs.
enum PersonalDataScanner {
  // MARK: - Addresses

  /// Finds an address. `index` is that of the `@`, or of the percent sign of `%40`.
  static func emailAddresses(_ text: [UInt8], _ index: Int, _ found: inout [Range<Int>]) -> Int {
    let isEncoded = text[index] == UInt8(ascii: "%")
    if isEncoded, Hexadecimal.byte(afterPercent: text, index, text.count) != UInt8(ascii: "@") {
      return index + 1
    }
    let sign = isEncoded ? 3 : 1
    var start = index
    // RFC 5321 limits local parts to 64 bytes, but some systems allow longer ones.
    while start > 0, index - start < 256, isLocal(text[start - 1]) { start -= 1 }
    let run = text[(index + sign)...].prefix(256).prefix {
      Characters.isAlphanumeric($0) || $0 >= 0x80 || "-.".utf8.contains($0)
    }
    let domain = Array(run.reversed().drop { "-.".utf8.contains($0) }.reversed())
    let labels = domain.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    if start < index, labels.count >= 2, labels.allSatisfy({ !$0.isEmpty }),
      let last = labels.last, last.count >= 2, !last.allSatisfy(Characters.isDigit), !isScale(labels[0])
    {
      found.append(start..<index + sign + domain.count)
    }
    return index + 1
  }

  /// Whether the label is a scale factor, as in `icon@2x.png`.
  private static func isScale(_ label: ArraySlice<UInt8>) -> Bool {
    label.count == 2 && label.first.map(Characters.isDigit) == true && label.last == UInt8(ascii: "x")
  }

  private static func isLocal(_ byte: UInt8) -> Bool {
    Characters.isAlphanumeric(byte) || byte >= 0x80 || "._%+-!#$*^`{|}~".utf8.contains(byte)
  }

  // MARK: - Cards

  /// The first digits of card numbers.
  static let cardMarks = "23456"

  /// Finds the number whose first digit is at `index`.
  static func cardNumbers(_ text: [UInt8], _ index: Int, _ found: inout [Range<Int>]) -> Int {
    guard index == 0 || !Characters.isDigit(text[index - 1]) else { return index + 1 }
    let group = endOfGroup(text, index)
    guard group.digits >= 13 else { return group.end }
    guard let end = endOfCard(text, index) else { return index + 1 }
    if !isInUUID(text, index..<end) { found.append(index..<end) }
    return end
  }

  /// The end of the digits that begin at `start`, with single spaces or hyphens between them, and their number. At most
  /// 19 are read.
  private static func endOfGroup(_ text: [UInt8], _ start: Int) -> (end: Int, digits: Int) {
    var (index, digits) = (start, 0)
    while index < text.count, digits < 19 {
      if Characters.isDigit(text[index]) {
        digits += 1
      } else if text[index] != 0x20 && text[index] != UInt8(ascii: "-")
        || index + 1 == text.count || !Characters.isDigit(text[index + 1])
      {
        break
      }
      index += 1
    }
    return (index, digits)
  }

  /// The end of the longest card number that begins at `start`.
  private static func endOfCard(_ text: [UInt8], _ start: Int) -> Int? {
    var digits: [Int] = []
    var end: Int?
    var index = start
    while index < text.count, digits.count < 19 {
      if Characters.isDigit(text[index]) {
        digits.append(Int(text[index] - UInt8(ascii: "0")))
        index += 1
        let isWhole = index == text.count || !Characters.isDigit(text[index])
        if isWhole, isCard(digits) { end = index }
      } else if " -".utf8.contains(text[index]), index + 1 < text.count, Characters.isDigit(text[index + 1]) {
        index += 1
      } else {
        break
      }
    }
    return end
  }

  private static func isCard(_ digits: [Int]) -> Bool {
    guard digits.count >= 13 else { return false }
    let prefix = digits[0] * 1000 + digits[1] * 100 + digits[2] * 10 + digits[3]
    let isIssued =
      switch digits[0] {
      case 2: digits.count == 16 && (2221...2720).contains(prefix)
      case 3: 14...19 ~= digits.count && [0, 4, 5, 6, 7, 8, 9].contains(digits[1])
      case 4: [13, 16, 19].contains(digits.count)
      case 5: digits.count >= 16
      case 6: digits.count >= 16
      default: false
      }
    return isIssued && isLuhn(digits)
  }

  /// The Luhn algorithm (ISO/IEC 7812-1, annex B).
  static func isLuhn(_ digits: [Int]) -> Bool {
    let sum = digits.reversed().enumerated().reduce(0) { sum, digit in
      guard digit.offset.isMultiple(of: 2) == false else { return sum + digit.element }
      let double = digit.element * 2
      return sum + (double > 9 ? double - 9 : double)
    }
    return sum.isMultiple(of: 10)
  }

  // MARK: - Phones

  /// Finds a number in the form of E.164, which has at most 15 digits. `index` is that of the plus sign.
  static func phoneNumbers(_ text: [UInt8], _ index: Int, _ found: inout [Range<Int>]) -> Int {
    guard index == 0 || !Characters.isAlphanumeric(text[index - 1]) else { return index + 1 }
    var (end, digits, last) = (index + 1, 0, index)
    while end < text.count, digits <= 15, Characters.isDigit(text[end]) || separates(text, end) {
      if Characters.isDigit(text[end]) { (digits, last) = (digits + 1, end) }
      end += 1
    }
    if 8...15 ~= digits { found.append(index..<last + 1) }
    return last + 1
  }

  /// Whether the byte at `index` is a single separator of digits.
  private static func separates(_ text: [UInt8], _ index: Int) -> Bool {
    " -.()".utf8.contains(text[index])
      && (Characters.isDigit(text[index - 1]) || " ()".utf8.contains(text[index - 1]))
  }

  // MARK: - UUIDs

  /// Finds the UUID whose first hyphen is at `index`.
  static func uuids(_ text: [UInt8], _ index: Int, _ found: inout [Range<Int>]) -> Int {
    let start = index - 8
    guard start >= 0, start + 36 <= text.count, isUUID(text, start) else { return index + 1 }
    found.append(start..<start + 36)
    return index + 36
  }

  /// Whether digits that look like the number of a card belong to a UUID.
  private static func isInUUID(_ text: [UInt8], _ digits: Range<Int>) -> Bool {
    let first = max(0, digits.upperBound - 36)
    return first <= digits.lowerBound
      && (first...digits.lowerBound).contains { $0 + 36 <= text.count && isUUID(text, $0) }
  }

  private static func isUUID(_ text: [UInt8], _ start: Int) -> Bool {
    if start > 0, Characters.isAlphanumeric(text[start - 1]) { return false }
    for offset in 0..<36 {
      let isHyphen = [8, 13, 18, 23].contains(offset)
      let byte = text[start + offset]
      guard isHyphen ? byte == UInt8(ascii: "-") : Hexadecimal.value(byte) != nil else { return false }
    }
    return start + 36 == text.count || !Characters.isAlphanumeric(text[start + 36])
  }
}
