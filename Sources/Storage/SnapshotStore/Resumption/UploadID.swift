/// The id of a resumable upload: 128 random bits, which can't be guessed.
///
/// Its text is 32 hexadecimal digits in lower case. No other spelling is accepted, so an upload has exactly one name.
public struct UploadID: Hashable, Sendable, LosslessStringConvertible, Codable {
  private static let length = 32

  /// The 32 digits.
  public let description: String

  /// Creates a random id.
  public init() {
    var generator = SystemRandomNumberGenerator()
    self.init(using: &generator)
  }

  /// Creates a random id with `generator`, which must be cryptographically secure in production.
  public init(using generator: inout some RandomNumberGenerator) {
    let hexadecimal = Array("0123456789abcdef".utf8)
    let words: [UInt64] = [generator.next(), generator.next()]
    let digits = words.flatMap { word in
      stride(from: 60, through: 0, by: -4).map { hexadecimal[Int(word >> UInt64($0) & 0xF)] }
    }
    description = String(decoding: digits, as: UTF8.self)
  }

  /// Parses an id; `nil` if `text` is malformed.
  public init?(_ text: String) {
    guard text.utf8.count == Self.length,
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    else { return nil }
    description = text
  }

  /// The first digits, to distinguish uploads in a log. The full id is a secret and must not be logged.
  public var abbreviation: String { description.prefix(8) + "…" }

  /// Decodes the text.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let id = UploadID(text) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "‘\(text)’ names no upload"))
    }
    self = id
  }

  /// Encodes the text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
