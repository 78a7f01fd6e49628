/// A text to find in UTF-8 text. Case is ignored.
struct SearchPattern: Sendable, Hashable {
  private let bytes: [UInt8]
  private let isASCII: Bool

  /// Creates a pattern. `text` is not empty.
  init(_ text: String) {
    bytes = Array(text.lowercased().utf8)
    isASCII = bytes.allSatisfy { $0 < 0x80 }
  }

  /// The first match in `text`; `nil` if there is none. In text outside ASCII whose lowercase form has another length,
  /// the range is that in the lowercase form, which is returned too.
  func match(in text: ArraySlice<UInt8>) -> (text: ArraySlice<UInt8>, range: Range<Int>)? {
    if isASCII { return find(in: text).map { (text, $0) } }
    guard text.contains(where: { $0 >= 0x80 }) else { return nil }
    let lowercase = Array(String(decoding: text, as: UTF8.self).lowercased().utf8)
    guard let range = find(in: lowercase[...]) else { return nil }
    guard lowercase.count == text.count else { return (lowercase[...], range) }
    return (text, range.lowerBound + text.startIndex..<range.upperBound + text.startIndex)
  }

  private func find(in text: ArraySlice<UInt8>) -> Range<Int>? {
    guard text.count >= bytes.count, let first = bytes.first else { return nil }
    let start: Int? = unsafe text.withUnsafeBufferPointer { text -> Int? in
      for start in 0...text.count - bytes.count where unsafe Self.lowercase(text[start]) == first {
        var length = 1
        while length < bytes.count, unsafe Self.lowercase(text[start + length]) == bytes[length] {
          length += 1
        }
        if length == bytes.count { return start }
      }
      return nil
    }
    return start.map { $0 + text.startIndex..<$0 + text.startIndex + bytes.count }
  }

  private static func lowercase(_ byte: UInt8) -> UInt8 {
    (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
  }
}

/// A match with some of the text around it.
package struct Excerpt: Sendable, Hashable {
  /// The text before the match, the match, and the text after it. A text that is cut off has an ellipsis.
  package let before: String
  package let match: String
  package let after: String

  /// Makes an excerpt of at most about `limit` bytes beside the match.
  init(_ text: ArraySlice<UInt8>, around range: Range<Int>, limit: Int = 160) {
    var start = max(text.startIndex, range.lowerBound - limit / 4)
    // Excerpts begin and end between characters.
    while start < range.lowerBound, text[start] & 0xC0 == 0x80 { start += 1 }
    let end = min(text.endIndex, range.upperBound + limit)
    before =
      (start > text.startIndex ? "…" : "") + String(wholeCharactersOf: text[start..<range.lowerBound])
    match = String(wholeCharactersOf: text[range])
    after =
      String(wholeCharactersOf: text[range.upperBound..<end]) + (end < text.endIndex ? "…" : "")
  }
}
