/// The identifier of a bug report in a team's issue tracker: `BUG-123`, `#4567`, `proj/issue/9`.
///
/// 1 to 128 characters, each an ASCII letter, a digit or one of `- _ . ~ # : @ + /`. Slashes separate segments. No
/// segment is empty, `.` or `..`, so that no proxy rewrites a URL that contains the identifier.
public struct ReportID: Hashable, Sendable, LosslessStringConvertible {
  /// The maximum length of an identifier in characters.
  public static let maximumLength = 128

  /// The identifier as text.
  public let description: String

  /// The reason why a text is not a valid identifier. The description is meant for its author.
  public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
    case empty
    case tooLong(Int)
    case character(Character)
    case segment(String)

    /// A sentence with the error and the allowed characters.
    public var description: String {
      switch self {
      case .empty:
        "A report id has at least one character."
      case .tooLong(let length):
        "A report id has at most \(ReportID.maximumLength) characters; this one has \(length)."
      case .character(let character):
        """
        A report id is made of ASCII letters, digits and - _ . ~ # : @ + /; \
        \(character.debugDescription) is not allowed.
        """
      case .segment(let segment):
        """
        No segment of a report id, between slashes, can be empty, ‘.’ or ‘..’; \
        this one has \(segment.isEmpty ? "an empty segment" : "the segment ‘\(segment)’").
        """
      }
    }
  }

  /// Creates an identifier from `text`; `nil` if the text is not valid.
  public init?(_ text: String) {
    do { try self.init(validating: text) } catch { return nil }
  }

  /// Creates an identifier from `text`. Throws the reason if the text is not valid.
  public init(validating text: String) throws(Refusal) {
    guard !text.isEmpty else { throw .empty }
    guard text.count <= Self.maximumLength else { throw .tooLong(text.count) }
    for character in text where !Self.isAllowed(character) { throw .character(character) }
    for segment in text.split(separator: "/", omittingEmptySubsequences: false)
    where segment.isEmpty || segment == "." || segment == ".." {
      throw .segment(String(segment))
    }
    description = text
  }

  /// Whether the identifier of a report can begin with `prefix`.
  package static func canBegin(with prefix: String) -> Bool {
    let segments = prefix.split(separator: "/", omittingEmptySubsequences: false)
    // The last segment can be continued.
    return prefix.count <= maximumLength && prefix.allSatisfy { isAllowed($0) }
      && !segments.dropLast().contains { $0.isEmpty || $0 == "." || $0 == ".." }
  }

  private static func isAllowed(_ character: Character) -> Bool {
    guard let ascii = character.asciiValue, character != "\r\n" else { return false }
    return character.isLetter || character.isNumber || "-_.~#:@+/".utf8.contains(ascii)
  }
}

extension ReportID: Codable {
  /// Decodes the text. Throws a `DecodingError` with the description of the ``Refusal`` if it is not valid.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    do {
      try self.init(validating: text)
    } catch {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: error.description))
    }
  }

  /// Encodes the text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
