import JSONText

/// The first bytes of a text or of another file, from which its type is detected.
package struct ContentHead: Sendable {
  /// The first bytes, at most ``length``.
  package let bytes: [UInt8]

  /// The number of bytes read to detect a file's type.
  package static let length = 128 << 10

  /// Creates a head from the first bytes of a file, at most ``length``.
  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Whether the file can be JSON, judging by its first character.
  package var mayBeJSON: Bool { first.map { "{[\"-0123456789tfn".utf8.contains($0) } ?? false }

  /// Whether the file is presumably meant to be JSON: it starts with `{` or `[`, which is unlikely for other text.
  package var claimsJSON: Bool { first.map { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") } ?? false }

  /// The first byte that is not white space, a record separator (RFC 7464) or part of a byte order mark.
  private var first: UInt8? {
    let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
    return start.first { $0 != 0x20 && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 && $0 != 0x1E }
  }

  /// Whether the file is mostly text: its beginning has no NUL and almost no invalid UTF-8.
  package var isText: Bool {
    guard !bytes.contains(0) else { return false }
    var wrong = 0
    var control = 0
    for scalar in String(wholeCharactersOf: bytes[...]).unicodeScalars {
      if scalar == "\u{FFFD}" { wrong += 1 }
      if scalar.isASCII, Self.isUnusual(UInt8(ascii: scalar)) { control += 1 }
    }
    return (wrong + control) * 16 <= bytes.count
  }

  /// Whether a byte is a control character that texts usually do not contain. They contain separators of records and
  /// fields (0x1C to 0x1F).
  private static func isUnusual(_ byte: UInt8) -> Bool {
    byte < 0x1B && byte != 0x09 && byte != 0x0A && byte != 0x0C && byte != 0x0D
  }

  /// The first byte for which the file is not text, and what is wrong with it; `nil` if there is none.
  package var textFailure: (offset: Int, reason: String)? {
    if let offset = bytes.firstIndex(of: 0) { return (offset, "is NUL") }
    var validation = UTF8Validation()
    for (offset, byte) in bytes.enumerated() {
      guard validation.take(byte) else { return (offset, "is not valid UTF-8") }
      if Self.isUnusual(byte) { return (offset, "is a control character") }
    }
    return nil
  }
}
