/// A text to find in UTF-8 text.
package struct SearchPattern: Sendable, Hashable {
  /// The text.
  let text: String
  private let bytes: [UInt8]
  private let isASCII: Bool
  private let ignoresCase: Bool

  /// Creates a pattern. `text` is not empty.
  init(_ text: String, ignoresCase: Bool = true) {
    (self.text, self.ignoresCase) = (text, ignoresCase)
    bytes = Array((ignoresCase ? text.lowercased() : text).utf8)
    isASCII = bytes.allSatisfy { $0 < 0x80 }
  }

  /// The first match in `text`; `nil` if there is none. In text outside ASCII whose lowercase form has another length,
  /// the range is that in the lowercase form, which is returned too.
  func match(in text: ArraySlice<UInt8>) -> TextMatch? {
    if isASCII || !ignoresCase { return find(in: text).map { TextMatch(text: text, range: $0) } }
    guard text.contains(where: { $0 >= 0x80 }) else { return nil }
    let lowercase = Array(String(decoding: text, as: UTF8.self).lowercased().utf8)
    return find(in: lowercase[...]).map { TextMatch(inLowercase: lowercase[...], range: $0, of: text) }
  }

  private func find(in text: ArraySlice<UInt8>) -> Range<Int>? {
    guard text.count >= bytes.count, let first = bytes.first else { return nil }
    let start: Int? = unsafe text.withUnsafeBufferPointer { text -> Int? in
      for start in 0...text.count - bytes.count where unsafe folded(text[start]) == first {
        var length = 1
        while length < bytes.count, unsafe folded(text[start + length]) == bytes[length] {
          length += 1
        }
        if length == bytes.count { return start }
      }
      return nil
    }
    return start.map { $0 + text.startIndex..<$0 + text.startIndex + bytes.count }
  }

  private func folded(_ byte: UInt8) -> UInt8 {
    ignoresCase && (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
  }
}

/// A text with `*` for any characters. Case is ignored.
package struct WildcardPattern: Sendable, Hashable {
  /// The maximum number of asterisks.
  static let limit = 16

  /// The texts between the asterisks, in lower case.
  private let parts: [[UInt8]]

  /// Creates a pattern; `nil` if it has more asterisks than ``limit``. Without any, it is the text without its case.
  init?(_ text: String) {
    parts = text.lowercased().utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
      .map(Array.init)
    guard parts.count <= Self.limit + 1 else { return nil }
  }

  /// Whether the pattern matches every text.
  var matchesAll: Bool { parts.allSatisfy(\.isEmpty) }

  /// The longest text between asterisks; `nil` if there is none.
  var longestPart: String? {
    parts.max { $0.count < $1.count }.flatMap { $0.isEmpty ? nil : String(decoding: $0, as: UTF8.self) }
  }

  /// Whether the pattern matches the whole text.
  func matches(_ text: ArraySlice<UInt8>) -> Bool {
    let lowercase = Self.lowercase(text)[...]
    guard parts.count > 1 else { return parts[0].elementsEqual(lowercase) }
    guard let first = parts.first, let last = parts.last, lowercase.count >= first.count + last.count,
      lowercase.starts(with: first), lowercase.suffix(last.count).elementsEqual(last)
    else { return false }
    return Self.find(parts[1..<parts.count - 1], in: lowercase.dropFirst(first.count).dropLast(last.count))
      != nil
  }

  /// The first match anywhere in `text`.
  func match(in text: ArraySlice<UInt8>) -> TextMatch? {
    let lowercase = Self.lowercase(text)
    return Self.find(parts[...], in: lowercase[...]).map {
      TextMatch(inLowercase: lowercase[...], range: $0, of: text)
    }
  }

  /// The range from the first to the last of `parts` in `text`, each behind the one before it.
  private static func find(_ parts: ArraySlice<[UInt8]>, in text: ArraySlice<UInt8>) -> Range<Int>? {
    var start: Int?
    var rest = text
    for part in parts where !part.isEmpty {
      guard let found = first(part, in: rest) else { return nil }
      start = start ?? found
      rest = rest[(found + part.count)...]
    }
    return (start ?? text.startIndex)..<max(start ?? text.startIndex, rest.startIndex)
  }

  private static func first(_ part: [UInt8], in text: ArraySlice<UInt8>) -> Int? {
    guard text.count >= part.count else { return nil }
    return (text.startIndex...text.endIndex - part.count).first { start in
      text[start] == part[0] && text[start..<start + part.count].elementsEqual(part)
    }
  }

  private static func lowercase(_ text: ArraySlice<UInt8>) -> [UInt8] {
    guard text.contains(where: { $0 >= 0x80 }) else {
      return text.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }
    return Array(String(decoding: text, as: UTF8.self).lowercased().utf8)
  }
}

/// A text in which something was found, and where.
struct TextMatch {
  let text: ArraySlice<UInt8>
  let range: Range<Int>

  init(text: ArraySlice<UInt8>, range: Range<Int>) { (self.text, self.range) = (text, range) }

  /// The match of the whole text.
  init(all text: ArraySlice<UInt8>) { self.init(text: text, range: text.indices) }

  /// A match in the lowercase form of `text`. If both have the same length, it is one in `text`.
  init(inLowercase lowercase: ArraySlice<UInt8>, range: Range<Int>, of text: ArraySlice<UInt8>) {
    guard lowercase.count == text.count else {
      self.init(text: lowercase, range: range)
      return
    }
    let shift = text.startIndex - lowercase.startIndex
    self.init(text: text, range: range.lowerBound + shift..<range.upperBound + shift)
  }
}

/// A match with some of the text around it.
package struct Excerpt: Sendable, Hashable {
  /// The text before the match, the match, and the text after it. A text that is cut off has an ellipsis.
  package let before: String
  package let match: String
  package let after: String

  /// The excerpt as one text.
  package var text: String { before + match + after }

  /// Makes an excerpt of at most about `lead` bytes before the match, of `limit` bytes behind it, and of the match.
  init(_ found: TextMatch, lead: Int = 40, limit: Int = 160) {
    let (text, range) = (found.text, found.range)
    var start = max(text.startIndex, range.lowerBound - lead)
    // Excerpts begin and end between characters.
    while start < range.lowerBound, text[start] & 0xC0 == 0x80 { start += 1 }
    let matchEnd = min(range.upperBound, range.lowerBound + 4 * limit)
    let end = matchEnd < range.upperBound ? matchEnd : min(text.endIndex, matchEnd + limit)
    before =
      (start > text.startIndex ? "…" : "") + String(wholeCharactersOf: text[start..<range.lowerBound])
    match = String(wholeCharactersOf: text[range.lowerBound..<matchEnd])
    after = String(wholeCharactersOf: text[matchEnd..<end]) + (end < text.endIndex ? "…" : "")
  }
}
