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
  static func schemes(_ text: [UInt8]) -> [Range<Int>] {
    var found: [Range<Int>] = []
    var index = 0
    while index + 5 < text.count {
      guard text[index] | 0x20 == UInt8(ascii: "b"), index == 0 || !Characters.isAlphanumeric(text[index - 1])
      else {
        index += 1
        continue
      }
      let isBasic = hasWord(text, index, basic)
      guard isBasic || hasWord(text, index, bearer) else {
        index += 1
        continue
      }
      index += isBasic ? basic.count : bearer.count
      var start = index
      while start < text.count, " +\t".utf8.contains(text[start]) { start += 1 }
      if Hexadecimal.byte(afterPercent: text, start, text.count) == UInt8(ascii: " ") { start += 3 }
      let end = endOfToken(text, start)
      guard start > index, text[start..<end].contains(where: Characters.isAlphanumeric),
        !isBasic || isNameAndPassword(text, start..<end)
      else { continue }
      found.append(start..<end)
      index = end
    }
    return found
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

  /// Finds JSON Web Tokens: the base64 encoding of an object, followed by a dot and further parts.
  static func webTokens(_ text: [UInt8]) -> [Range<Int>] {
    var found: [Range<Int>] = []
    var index = 0
    while index + 3 < text.count {
      guard text[index] == UInt8(ascii: "e"), text[index + 1] == UInt8(ascii: "y"),
        text[index + 2] == UInt8(ascii: "J"),
        index == 0 || !Characters.isAlphanumeric(text[index - 1])
      else {
        index += 1
        continue
      }
      var end = index
      var dots = 0
      while end < text.count, Characters.isAlphanumeric(text[end]) || "-._".utf8.contains(text[end]) {
        if text[end] == UInt8(ascii: ".") { dots += 1 }
        end += 1
      }
      if text[end - 1] == UInt8(ascii: ".") { dots -= 1 }
      if end - index >= 16, dots > 0 { found.append(index..<end) }
      index = end
    }
    return found
  }

  /// The maximum length of the user information in a URL.
  private static let userLimit = 1024

  /// Finds the user information of URLs: `https://name:password@host`.
  static func userInformation(_ text: [UInt8]) -> [Range<Int>] {
    var found: [Range<Int>] = []
    var index = 3
    while index < text.count {
      guard text[index - 1] == UInt8(ascii: "/"), text[index - 2] == UInt8(ascii: "/"),
        text[index - 3] == UInt8(ascii: ":")
      else {
        index += 1
        continue
      }
      var (end, at, hasPassword) = (index, Int?.none, false)
      scan: while end < text.count, end - index < userLimit {
        switch text[end] {
        case 0...0x20, UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "\""),
          UInt8(ascii: "<"),
          UInt8(ascii: ">"):
          break scan
        case UInt8(ascii: "@"): at = end
        case UInt8(ascii: ":"): if at == nil { hasPassword = true }
        default: break
        }
        end += 1
      }
      if let at, hasPassword, at > index, Placeholders.end(in: text, from: index) != at {
        found.append(index..<at)
      }
      index = max(end, index + 1)
    }
    return found
  }
}
