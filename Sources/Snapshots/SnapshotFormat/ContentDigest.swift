public import Foundation
import JSONText
public import SystemIO

#if canImport(CryptoKit)
  public import CryptoKit
#else
  public import Crypto
#endif

/// A SHA-256 digest: 64 lower-case hexadecimal digits in JSON, base64 in HTTP fields.
public struct ContentDigest: Hashable, Sendable, CustomStringConvertible {
  private static let length = 32

  // Four integers need no separate allocation: a manifest contains a digest for each of its recordings.
  private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

  /// Creates a digest from the result of a computation.
  public init(_ digest: SHA256Digest) { self.init(first: digest) }

  /// Creates a digest from 32 bytes; `nil` for any other number of bytes.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.length else { return nil }
    self.init(first: bytes)
  }

  /// Parses 64 hexadecimal digits in upper or lower case; otherwise `nil`.
  public init?(hexadecimal text: String) { self.init(hexadecimal: text.utf8) }

  /// Parses 64 hexadecimal digits in upper or lower case; otherwise `nil`.
  init?(hexadecimal digits: some Collection<UInt8>) { self.init(hexadecimal: ArraySlice(digits)) }

  /// Parses 64 hexadecimal digits in upper or lower case, in a slice of a larger buffer; otherwise `nil`.
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

  /// Creates a digest from the first 32 of `bytes`.
  private init(first bytes: some Sequence<UInt8>) {
    // Loops over a sequence whose type is not known to the compiler take ten times as long.
    let bytes = Array(bytes)
    for place in 0..<4 {
      set(bytes[8 * place..<8 * place + 8].reduce(0) { $0 << 8 | UInt64($1) }, at: place)
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

  /// Whether both digests are equal.
  public static func == (left: Self, right: Self) -> Bool { left.words == right.words }

  /// Hashes all bytes. The author of a manifest chooses them, and could cause collisions if only some were hashed.
  public func hash(into hasher: inout Hasher) {
    for word in [words.0, words.1, words.2, words.3] { hasher.combine(word) }
  }
}

extension ContentDigest: Codable {
  /// Decodes the hexadecimal form. Throws a `DecodingError` for anything else.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let digest = ContentDigest(hexadecimal: text) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "‘\(text)’ is not 64 hexadecimal digits"))
    }
    self = digest
  }

  /// Encodes the hexadecimal form.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

extension ContentDigest {
  /// The digest of the contents of `file`.
  public static func of(contentsOf file: File) throws(SystemError) -> ContentDigest {
    try measure(file).sha256
  }

  /// The size and digest of the contents of `file`. Both describe the same bytes, even if the file grows meanwhile.
  static func measure(_ file: File) throws(SystemError) -> (size: Int64, sha256: ContentDigest) {
    var computation = DigestComputation()
    try computation.follow(file)
    return (computation.count, computation.digest)
  }
}

/// Computes the digest of bytes that arrive in pieces.
public struct DigestComputation: Sendable {
  private var hash = SHA256()
  /// The number of bytes added so far.
  package private(set) var count: Int64 = 0

  /// Creates a computation without any bytes.
  public init() {}

  /// Adds the next bytes.
  public mutating func update(_ bytes: [UInt8]) {
    hash.update(data: bytes)
    count += Int64(bytes.count)
  }

  /// Adds the next bytes.
  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    unsafe hash.update(bufferPointer: bytes)
    count += Int64(bytes.count)
  }

  /// Adds the bytes of `file` from the offset ``count`` to `end` or the end of the file. Blocks while reading, in constant
  /// memory.
  /// - Parameters:
  ///   - file: The file.
  ///   - end: The offset at which to stop.
  ///   - isCancelled: Called after each piece. The computation can be continued after it has returned `true`.
  package mutating func follow(
    _ file: File, to end: Int64 = .max, isCancelled: () -> Bool = { false }
  ) throws(SystemError) {
    guard count < end else { return }
    var computation = self
    defer { self = computation }
    try unsafe file.forEachPiece(in: count..<end) { piece in
      unsafe computation.update(piece)
      return !isCancelled()
    }
  }

  /// The digest of all bytes so far.
  public var digest: ContentDigest { ContentDigest(hash.finalize()) }
}

extension Hexadecimal {
  /// The value of eight digits in upper or lower case, and whether all bytes are digits. Processes them together,
  /// because a manifest contains millions.
  static func read(_ digits: ArraySlice<UInt8>) -> (value: UInt32, isValid: Bool) {
    let word = unsafe UInt64(bigEndian: digits.withUnsafeBytes { unsafe $0.loadUnaligned(as: UInt64.self) })
    let ones: UInt64 = 0x0101_0101_0101_0101
    let tops = ones * 0x80
    // The top bit of each byte in the sum tells whether that byte reaches the threshold. No byte overflows into the
    // next one.
    let (ascii, letters) = (word & ~tops, (word | ones * 0x20) & ~tops)
    func isAtLeast(_ byte: UInt64, _ bytes: UInt64) -> UInt64 { bytes &+ ones &* (0x80 - byte) }
    let isNumeral = isAtLeast(0x30, ascii) & ~isAtLeast(0x3A, ascii)
    let isLetter = isAtLeast(0x61, letters) & ~isAtLeast(0x67, letters)
    let isValid = (isNumeral | isLetter) & ~word & tops == tops
    // Bit 6 (0x40) is set in letters and not in numerals.
    var value = (word & (ones * 0x0F)) &+ (word >> 6 & ones) &* 9
    value = (value | value >> 4) & 0x00FF_00FF_00FF_00FF
    value = (value | value >> 8) & 0x0000_FFFF_0000_FFFF
    return (UInt32(truncatingIfNeeded: value | value >> 16), isValid)
  }
}
