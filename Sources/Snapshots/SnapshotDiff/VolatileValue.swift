import JSONText

/// Recognizes values that differ in any two snapshots: times, identifiers and tokens.
enum VolatileValue {
  /// The last words of keys of such values.
  private static let words: Set<String> = [
    "at", "cursor", "date", "etag", "expires", "expiry", "guid", "id", "nonce", "session", "signature",
    "time",
    "timestamp", "token", "uuid",
  ]
  /// The least length of a text without spaces that is taken for a token.
  private static let tokenLength = 20
  /// Times from 2001 to 2096 as seconds since 1970.
  private static let seconds = 1_000_000_000..<4_000_000_000

  /// Whether the change of the value is likely to tell nothing.
  static func isLikely(_ change: Change<JSONPath>) -> Bool {
    if let key = change.place.steps.lazy.reversed().compactMap(\.key).first, words.contains(lastWord(of: key))
    {
      return true
    }
    guard let first = change.first, let second = change.second else { return false }
    return isVolatile(first) && isVolatile(second)
  }

  /// The last word of `updatedAt`, `updated_at`, `UPDATED-AT` or `userID`, in lower case.
  static func lastWord(of key: String) -> String {
    var word: [Character] = []
    var isLower = false
    for character in key {
      guard character.isLetter else {
        isLower = false
        if character == "_" || character == "-" || character == "." || character == " " { word = [] }
        continue
      }
      if character.isUppercase, isLower { word = [] }
      isLower = !character.isUppercase
      word.append(character)
    }
    return String(word).lowercased()
  }

  /// Whether a value as in an excerpt of JSON is a time, a UUID, or a long text that no person wrote.
  private static func isVolatile(_ value: String) -> Bool {
    if let number = Int(value) { return seconds.contains(number) || seconds.contains(number / 1000) }
    guard value.hasPrefix("\"") else { return false }
    let text = value.utf8.dropFirst().prefix { $0 != UInt8(ascii: "\"") }
    if isDate(text) { return true }
    let isDense = text.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
      default: "-_.+/=".utf8.contains(byte)
      }
    }
    return isDense && text.count >= tokenLength && text.contains { (0x30...0x39).contains($0) }
      && !text.contains(UInt8(ascii: "."))
  }

  /// Whether a text begins like `2026-11-27T10:00`.
  private static func isDate(_ text: Substring.UTF8View.SubSequence) -> Bool {
    let shape = Array("0000-00-00T00:".utf8)
    guard text.count >= shape.count else { return false }
    return zip(text, shape).allSatisfy { byte, model in
      switch model {
      case UInt8(ascii: "0"): (0x30...0x39).contains(byte)
      case UInt8(ascii: "T"): byte == model || byte == 0x20
      default: byte == model
      }
    }
  }
}

extension JSONPath.Step {
  fileprivate var key: String? { if case .key(let key) = self { key } else { nil } }
}
