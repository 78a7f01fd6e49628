public import Crypto
public import Foundation

/// A SHA-256 digest: 64 lower-case hexadecimal digits in JSON, base64 in HTTP fields.
public struct ContentDigest: Hashable, Sendable, CustomStringConvertible {
  private static let length = 32

  // As four numbers it takes no memory of its own: a manifest has one for each of its recordings.
  private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

  /// The digest that a finished computation gives.
  public init(_ digest: SHA256Digest) { self.init(first: digest) }

  /// Takes exactly 32 bytes, else `nil`.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.length else { return nil }
    self.init(first: bytes)
  }

  /// Reads 64 hexadecimal digits of either case, else `nil`.
  public init?(hexadecimal text: String) { self.init(hexadecimal: text.utf8) }

  /// Reads 64 hexadecimal digits of either case, else `nil`.
  init?(hexadecimal digits: some Collection<UInt8>) { self.init(hexadecimal: ArraySlice(digits)) }

  /// Reads 64 hexadecimal digits of either case, which are a part of other bytes, else `nil`.
  init?(hexadecimal digits: ArraySlice<UInt8>) {
    guard digits.count == 2 * Self.length else { return nil }
    var isValid = true
    for place in 0..<4 {
      let start = digits.startIndex + 16 * place
      let (first, isFirst) = Hexadecimal.read(digits[start..<start + 8])
      let (last, isLast) = Hexadecimal.read(digits[start + 8..<start + 16])
      isValid = isValid && isFirst && isLast
      set(UInt64(first) << 32 | UInt64(last), at: place)
    }
    if !isValid { return nil }
  }

  /// The first 32 of `bytes`.
  private init(first bytes: some Sequence<UInt8>) {
    var word: UInt64 = 0
    for (index, byte) in bytes.prefix(Self.length).enumerated() {
      word = word << 8 | UInt64(byte)
      if index % 8 == 7 { set(word, at: index / 8) }
    }
  }

  private mutating func set(_ word: UInt64, at index: Int) {
    switch index {
    case 0: words.0 = word
    case 1: words.1 = word
    case 2: words.2 = word
    default: words.3 = word
    }
  }

  /// The 32 bytes.
  public var bytes: [UInt8] {
    [words.0, words.1, words.2, words.3].flatMap { word in
      stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
    }
  }

  /// The digest of bytes in memory.
  public static func of(_ data: some DataProtocol) -> ContentDigest { ContentDigest(SHA256.hash(data: data)) }

  /// 64 lower-case hexadecimal digits.
  public var description: String {
    var text: [UInt8] = []
    text.reserveCapacity(2 * Self.length)
    for word in [words.0, words.1, words.2, words.3] {
      for shift in stride(from: 60, through: 0, by: -4) {
        text.append(Hexadecimal.digit(UInt8(truncatingIfNeeded: word >> UInt64(shift)) & 15))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Whether both are of the same bytes.
  public static func == (left: Self, right: Self) -> Bool { left.words == right.words }

  /// Hashes all bytes: whoever writes a manifest chooses them.
  public func hash(into hasher: inout Hasher) {
    for word in [words.0, words.1, words.2, words.3] { hasher.combine(word) }
  }
}

extension ContentDigest: Codable {
  /// Reads the hexadecimal form; anything else is a `DecodingError` that says so.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let digest = ContentDigest(hexadecimal: text) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "‘\(text)’ is not 64 hexadecimal digits"))
    }
    self = digest
  }

  /// Writes the hexadecimal form.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
