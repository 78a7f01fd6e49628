import Foundation

/// Finds secrets by their format.
enum SecretScanner {
  static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  static func isAlphanumeric(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  /// The characters of tokens and of all base64 alphabets.
  private static func isToken(_ byte: UInt8) -> Bool {
    isAlphanumeric(byte) || "-._~+/=".utf8.contains(byte)
  }

  // MARK: - Credentials

  /// Finds the credentials after `Bearer`, and after `Basic` if they are the base64 encoding of a name and a password.
  static func schemes(_ text: [UInt8]) -> [Range<Int>] {
    var found: [Range<Int>] = []
    for (scheme, isBasic) in [(Array("bearer".utf8), false), (Array("basic".utf8), true)] {
      var index = 0
      while index + scheme.count < text.count {
        defer { index += 1 }
        guard text[index] | 0x20 == scheme[0], index == 0 || !isAlphanumeric(text[index - 1]),
          text[index..<index + scheme.count].lazy.map({ $0 | 0x20 }).elementsEqual(scheme)
        else { continue }
        let gap = text[(index + scheme.count)...].prefix { " +\t".utf8.contains($0) }
        let escape = text[gap.endIndex...].starts(with: Array("%20".utf8)) ? 3 : 0
        let start = gap.endIndex + escape
        let value = text[start..<endOfToken(text, start)]
        guard gap.count + escape > 0, !value.isEmpty, !isBasic || isNameAndPassword(value) else { continue }
        found.append(start..<value.endIndex)
        index = value.endIndex - 1
      }
    }
    return found
  }

  /// The end of the token that begins at `start`; its characters can be percent-encoded.
  private static func endOfToken(_ text: [UInt8], _ start: Int) -> Int {
    var index = start
    while index < text.count {
      if isToken(text[index]) {
        index += 1
      } else if let byte = encodedByte(text[index...]), isToken(byte) {
        index += 3
      } else {
        break
      }
    }
    return index
  }

  /// The byte whose percent-encoding `text` begins with.
  private static func encodedByte(_ text: ArraySlice<UInt8>) -> UInt8? {
    let code = text.prefix(3)
    guard code.count == 3, code.first == UInt8(ascii: "%"), code.dropFirst().allSatisfy(isAlphanumeric) else {
      return nil
    }
    return UInt8(String(decoding: code.dropFirst(), as: UTF8.self), radix: 16)
  }

  private static func isNameAndPassword(_ value: ArraySlice<UInt8>) -> Bool {
    var rest = value
    var decoded: [UInt8] = []
    while let byte = rest.first {
      let encoded = encodedByte(rest)
      decoded.append(encoded ?? byte)
      rest = rest.dropFirst(encoded == nil ? 1 : 3)
    }
    let digits = decoded.prefix { $0 != UInt8(ascii: "=") }
    let padded = Array(digits) + Array(repeating: UInt8(ascii: "="), count: (4 - digits.count % 4) % 4)
    return Data(base64Encoded: Data(padded))?.contains(UInt8(ascii: ":")) ?? false
  }

  /// Finds JSON Web Tokens: the base64 encoding of an object, followed by a dot and further parts.
  static func webTokens(_ text: [UInt8]) -> [Range<Int>] {
    let opening = Array("eyJ".utf8)
    var found: [Range<Int>] = []
    var index = 0
    while index + opening.count < text.count {
      guard text[index] == opening[0], text[index...].starts(with: opening),
        index == 0 || !isAlphanumeric(text[index - 1])
      else {
        index += 1
        continue
      }
      let token = text[index...].prefix { isAlphanumeric($0) || "-._".utf8.contains($0) }
      if token.count >= 16, token.dropLast().contains(UInt8(ascii: ".")) { found.append(token.indices) }
      index = token.endIndex
    }
    return found
  }

  // MARK: - Addresses

  static func emailAddresses(_ text: [UInt8]) -> [Range<Int>] {
    var found: [Range<Int>] = []
    for (index, byte) in text.enumerated() {
      let sign: Int
      if byte == UInt8(ascii: "@") {
        sign = 1
      } else if byte == UInt8(ascii: "%"), text[index...].starts(with: Array("%40".utf8)) {
        sign = 3
      } else {
        continue
      }
      var start = index
      // RFC 5321 limits local parts to 64 bytes, but some systems allow longer ones.
      while start > 0, index - start < 256, isLocal(text[start - 1]) { start -= 1 }
      let run = text[(index + sign)...].prefix(256).prefix {
        isAlphanumeric($0) || $0 >= 0x80 || "-.".utf8.contains($0)
      }
      let domain = Array(run.reversed().drop { "-.".utf8.contains($0) }.reversed())
      let labels = domain.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      guard start < index, labels.count >= 2, labels.allSatisfy({ !$0.isEmpty }),
        let last = labels.last, last.count >= 2, !last.allSatisfy(isDigit), !isScale(labels[0])
      else { continue }
      found.append(start..<index + sign + domain.count)
    }
    return found
  }

  /// Whether the label is a scale factor, as in `icon@2x.png`.
  private static func isScale(_ label: ArraySlice<UInt8>) -> Bool {
    label.count == 2 && label.first.map(isDigit) == true && label.last == UInt8(ascii: "x")
  }

  private static func isLocal(_ byte: UInt8) -> Bool {
    isAlphanumeric(byte) || byte >= 0x80 || "._%+-!#$*^`{|}~".utf8.contains(byte)
  }

  // MARK: - Cards

  static func cardNumbers(_ text: [UInt8]) -> [Range<Int>] {
    var found: [Range<Int>] = []
    var index = 0
    while index < text.count {
      guard isDigit(text[index]), index == 0 || !isDigit(text[index - 1]) else {
        index += 1
        continue
      }
      if let end = endOfCard(text, index) {
        found.append(index..<end)
        index = end
      } else {
        index += 1
      }
    }
    return found
  }

  /// The end of the longest card number that begins at `start`.
  private static func endOfCard(_ text: [UInt8], _ start: Int) -> Int? {
    var digits: [Int] = []
    var end: Int?
    var index = start
    while index < text.count, digits.count < 19 {
      if isDigit(text[index]) {
        digits.append(Int(text[index] - UInt8(ascii: "0")))
        index += 1
        let isWhole = index == text.count || !isDigit(text[index])
        if isWhole, isCard(digits) { end = index }
      } else if " -".utf8.contains(text[index]), index + 1 < text.count, isDigit(text[index + 1]) {
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
}
