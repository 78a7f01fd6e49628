public import Crypto
public import Foundation

/// A SHA-256 digest: 64 lower-case hexadecimal digits in JSON, base64 in HTTP fields.
public struct ContentDigest: Hashable, Sendable, CustomStringConvertible {
  /// The 32 bytes.
  public let bytes: [UInt8]

  /// The digest that a finished computation gives.
  public init(_ digest: SHA256Digest) { bytes = Array(digest) }

  /// Takes exactly 32 bytes, else `nil`.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == SHA256Digest.byteCount else { return nil }
    self.bytes = Array(bytes)
  }

  /// Reads 64 hexadecimal digits of either case, else `nil`.
  public init?(hexadecimal text: String) {
    let digits = text.utf8.compactMap(Hexadecimal.value)
    guard text.utf8.count == 64, digits.count == 64 else { return nil }
    bytes = stride(from: 0, to: 64, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  /// The digest of bytes in memory.
  public static func of(_ data: some DataProtocol) -> ContentDigest { ContentDigest(SHA256.hash(data: data)) }

  /// 64 lower-case hexadecimal digits.
  public var description: String {
    var text: [UInt8] = []
    text.reserveCapacity(2 * bytes.count)
    for byte in bytes {
      text.append(Hexadecimal.digit(byte >> 4))
      text.append(Hexadecimal.digit(byte & 15))
    }
    return String(decoding: text, as: UTF8.self)
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
