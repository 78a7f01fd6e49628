import Foundation

/// Finds credentials in text by their form.
enum CredentialScanner {
  /// The characters of tokens and of all base64 alphabets.
  private static func isToken(_ byte: UInt8) -> Bool {
    Characters.isAlphanumeric(byte) || "-._~+/=".utf8.contains(byte)
  }

  private static let bearer = Array("bearer".utf8)
  private static let basic = Array("basic".utf8)

  /// Finds the credentials after `Bearer`, and after `Basic` if they are the base64 encoding of a name and a password.
  /// `index` is that of the `b`.
  static func schemes(_ text: [UInt8], _ index: Int, _ found: inout [Range<Int>]) -> Int {
    guard index == 0 || !Characters.isAlphanumeric(text[index - 1]) else { return index + 1 }
    let isBasic = hasWord(text, index, basic)
    guard isBasic || hasWord(text, index, bearer) else { return index + 1 }
    let word = index + (isBasic ? basic.count : bearer.count)
    var start = word
    while start < text.count, " +\t".utf8.contains(text[start]) { start += 1 }
    if Hexadecimal.byte(afterPercent: text, start, text.count) == UInt8(ascii: " ") { start += 3 }
    let end = endOfToken(text, start)
    guard start > word, text[start..<end].contains(where: Characters.isAlphanumeric),
      !isBasic || isNameAndPassword(text, start..<end)
    else { return word }
    found.append(start..<end)
    return end
  }

  private static func hasWord(_ text: [UInt8], _ index: Int, _ word: [UInt8]) -> Bool {
    guard index + word.count <= text.count else { return false }
    for offset in word.indices where text[index + offset] | 0x20 != word[offset] { return false }
    return true
  }

  /// The end of the token that begins at `start`; its characters can be percent-encoded.
  private static func endOfToken(_ text: [UInt8], _ start: Int) -> Int {
    var index = start
    while index < text.count {
      if isToken(text[index]) {
        index += 1
      } else if let byte = Hexadecimal.byte(afterPercent: text, index, text.count), isToken(byte) {
        index += 3
      } else {
        break
      }
    }
    return index
  }

  private static func isNameAndPassword(_ text: [UInt8], _ range: Range<Int>) -> Bool {
    var decoded: [UInt8] = []
    Escaping.percent.decode(text, range, into: &decoded)
    return Base64.decode(decoded[...])?.contains(UInt8(ascii: ":")) ?? false
  }

  /// Finds JSON Web Tokens: the base64 encoding of an object, which begins with `eyJ`, followed by a dot and further
  /// parts. `index` is that of the `J`.
  static func webTokens(_ text: [UInt8], _ index: Int, _ found: inout [Range<Int>]) -> Int {
    let start = index - 2
    guard start >= 0, text[start] == UInt8(ascii: "e"), text[start + 1] == UInt8(ascii: "y"),
      start == 0 || !Characters.isAlphanumeric(text[start - 1])
    else { return index + 1 }
    var end = start
    var dots = 0
    while end < text.count, Characters.isAlphanumeric(text[end]) || "-._".utf8.contains(text[end]) {
      if text[end] == UInt8(ascii: ".") { dots += 1 }
      end += 1
    }
    if text[end - 1] == UInt8(ascii: ".") { dots -= 1 }
    if end - start >= 16, dots > 0 { found.append(start..<end) }
    return end
  }

  /// The maximum length of the user information in a URL.
  private static let userLimit = 1024

  /// Finds the user information of URLs: `https://name:password@host`. `index` is that of the colon after the scheme.
  static func userInformation(_ text: [UInt8], _ index: Int, _ found: inout [Range<Int>]) -> Int {
    guard Characters.isSchemeEnd(text, index) else { return index + 1 }
    let start = index + 3
    var (end, at, hasPassword) = (start, Int?.none, false)
    scan: while end < text.count, end - start < userLimit {
      switch text[end] {
      case 0...0x20, UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "\""),
        UInt8(ascii: "<"), UInt8(ascii: ">"):
        break scan
      case UInt8(ascii: "@"): at = end
      case UInt8(ascii: ":"): if at == nil { hasPassword = true }
      default: break
      }
      end += 1
    }
    if let at, hasPassword, at > start, Placeholders.end(in: text, from: start) != at {
      found.append(start..<at)
    }
    // The last colon can be that of another scheme.
    return max(end, start + 1) - 3
  }
}
