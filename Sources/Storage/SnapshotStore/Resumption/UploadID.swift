/// Names one upload that may be resumed: 128 random bits, which nobody can guess.
///
/// Its text is 32 hexadecimal digits in lower case, and only that is read: an upload has one name.
public struct UploadID: Hashable, Sendable, LosslessStringConvertible, Codable {
  private static let length = 32

  /// The text.
  public let description: String

  /// A fresh one out of the system's randomness.
  public init() {
    var generator = SystemRandomNumberGenerator()
    self.init(using: &generator)
  }

  /// A fresh one out of `generator`, which has to be one for secrets wherever it matters.
  public init(using generator: inout some RandomNumberGenerator) {
    let digits = (0..<Self.length).map { _ in
      Character(Unicode.Scalar(Array("0123456789abcdef".utf8)[Int.random(in: 0..<16, using: &generator)]))
    }
    description = String(digits)
  }

  /// The upload that `text` names; `nil` for what can't name one.
  public init?(_ text: String) {
    guard text.utf8.count == Self.length,
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    else { return nil }
    description = text
  }

  /// Tells uploads apart in a log, where their names, which are secrets, must not be.
  public var abbreviation: String { description.prefix(8) + "…" }

  /// Reads the text.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let id = UploadID(text) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "‘\(text)’ names no upload"))
    }
    self = id
  }

  /// Writes the text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
