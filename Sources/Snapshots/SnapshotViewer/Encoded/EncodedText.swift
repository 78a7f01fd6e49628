import JSONText

/// Contents that are encoded in a string of a JSON document: JSON, or base64 of an image, of JSON or of a property list.
package struct EncodedText: Sendable, Hashable {
  /// How the contents are encoded.
  package enum Coding: Sendable, Hashable {
    /// The string is the contents.
    case text
    /// Base64 of either alphabet, behind a number of bytes that are the beginning of a `data:` URL.
    case base64(prefix: Int)
    /// A JSON Web Token (RFC 7519): three parts in base64, separated by dots.
    case token
  }

  /// The kinds of contents.
  package enum Content: Sendable, Hashable {
    case json, image, propertyList, bytes
  }

  /// Limits for strings and contents.
  package struct Limits: Sendable, Hashable {
    /// The maximum number of bytes of decoded contents.
    package var contents = 32 << 20
    /// The maximum number of bytes of a token.
    package var token = 64 << 10
    /// The minimum number of digits of base64, and of those of an image. Shorter ones are taken for words.
    package var digits = 8
    package var imageDigits = 32

    /// Creates limits with the default values.
    package init() {}
  }

  /// How the contents are encoded.
  package let coding: Coding
  /// What the contents are, judging by their beginning.
  package let content: Content

  /// Examines a string; `nil` if it contains nothing that is shown decoded.
  /// - Parameters:
  ///   - text: the string, or at least its first hundreds of bytes.
  ///   - isCut: whether `text` is only the beginning.
  ///   - isData: whether the string is base64 for certain, since it is data of a property list.
  package init?(_ text: String, isCut: Bool, isData: Bool = false, limits: Limits = Limits()) {
    let bytes = Array(text.utf8)
    guard let first = bytes.first(where: { !Self.isSpace($0) }) else { return nil }
    if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
      guard Self.isJSON(bytes[...], isCut: isCut) else { return nil }
      (coding, content) = (.text, .json)
      return
    }
    if Self.isToken(bytes, isCut: isCut) {
      (coding, content) = (.token, .json)
      return
    }
    let prefix = bytes.starts(with: "data:".utf8) ? Self.dataPrefix(bytes) : 0
    guard let prefix, let decoded = Self.decoded(bytes[prefix...], isCut: isCut) else { return nil }
    let digits = bytes.count - prefix
    guard isData || digits >= limits.digits else { return nil }
    if let content = Self.content(of: decoded, isCut: isCut),
      content != .image || isData || digits >= limits.imageDigits
    {
      (coding, self.content) = (.base64(prefix: prefix), content)
    } else if isData {
      (coding, content) = (.base64(prefix: 0), .bytes)
    } else {
      return nil
    }
  }

  static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
  }

  /// The number of bytes before the base64 in a `data:` URL (RFC 2397); `nil` if the URL contains no base64.
  private static func dataPrefix(_ bytes: [UInt8]) -> Int? {
    guard let comma = bytes.prefix(256).firstIndex(of: UInt8(ascii: ",")) else { return nil }
    return bytes[..<comma].reversed().starts(with: ";base64".utf8.reversed()) ? comma + 1 : nil
  }

  /// The decoded bytes of base64 or of its beginning.
  private static func decoded(_ text: ArraySlice<UInt8>, isCut: Bool) -> [UInt8]? {
    var decoder = Base64.Decoder()
    guard let bytes = decoder.decode(text), isCut || decoder.isComplete else { return nil }
    return bytes
  }

  private static func content(of bytes: [UInt8], isCut: Bool) -> Content? {
    if isImage(bytes) { return .image }
    if PropertyList.form(of: bytes) != nil { return .propertyList }
    guard let first = bytes.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else {
      return nil
    }
    return isJSON(bytes[...], isCut: isCut) ? .json : nil
  }

  /// Whether the bytes begin as an image of a format that browsers display.
  private static func isImage(_ bytes: [UInt8]) -> Bool {
    bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
      || bytes.starts(with: [0xFF, 0xD8, 0xFF]) || bytes.starts(with: "GIF8".utf8)
      || bytes.starts(with: "RIFF".utf8) && bytes.dropFirst(8).starts(with: "WEBP".utf8)
  }

  /// Whether the bytes are an object or an array with contents, or the beginning of one.
  static func isJSON(_ bytes: ArraySlice<UInt8>, isCut: Bool) -> Bool {
    var configuration = JSONTokenizer.Configuration()
    configuration.textLength = 0
    var tokenizer = JSONTokenizer(configuration)
    var tokens = 0
    do {
      tokenizer.feed(Array(bytes))
      while try tokenizer.next() != nil { tokens += 1 }
      guard !isCut else { return tokens >= 1 }
      tokenizer.finish()
      while try tokenizer.next() != nil { tokens += 1 }
    } catch {
      return false
    }
    return tokens >= 3
  }

  /// Whether the text is a signed token, or the beginning of one: base64 of two objects, and a signature.
  private static func isToken(_ bytes: [UInt8], isCut: Bool) -> Bool {
    // Base64 of `{"`.
    let object = "eyJ".utf8
    guard bytes.starts(with: object) else { return false }
    let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 3 || isCut && parts.count == 2, parts[1].starts(with: object) else { return false }
    guard let header = decoded(parts[0], isCut: false), isJSON(header[...], isCut: false) else {
      return false
    }
    return parts.dropFirst().enumerated().allSatisfy { index, part in
      decoded(part, isCut: isCut && index + 2 == parts.count) != nil
    }
  }
}
