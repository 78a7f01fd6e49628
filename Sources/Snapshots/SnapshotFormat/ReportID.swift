/// The name of a bug report in whatever tracker a team uses: `BUG-123`, `#4567`, `proj/issue/9`.
///
/// 1 to 128 characters, each an ASCII letter, a digit or one of `- _ . ~ # : @ + /`. Slashes part it into
/// segments, and no segment is empty, `.` or `..`, so that no proxy rewrites the URL that carries it.
public struct ReportID: Hashable, Sendable, LosslessStringConvertible {
  /// The most characters that a report's name may have.
  public static let maximumLength = 128

  /// The name as it was given.
  public let description: String

  /// Why a text is no report's name, in words for whoever sent it.
  public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
    case empty
    case tooLong(Int)
    case character(Character)
    case segment(String)

    /// One sentence that says what is wrong and what is allowed.
    public var description: String {
      switch self {
      case .empty:
        "A report id has at least one character."
      case .tooLong(let length):
        "A report id has at most \(ReportID.maximumLength) characters; this one has \(length)."
      case .character(let character):
        """
        A report id is made of ASCII letters, digits and - _ . ~ # : @ + /; \
        \(character.debugDescription) is none of them.
        """
      case .segment(let segment):
        """
        No part of a report id between slashes may be empty, ‘.’ or ‘..’; \
        \(segment.isEmpty ? "an empty one" : "‘\(segment)’") is there.
        """
      }
    }
  }

  /// The report's name that `text` is; `nil` unless it obeys the rules above.
  public init?(_ text: String) {
    do throws(Refusal) { try self.init(validating: text) } catch { return nil }
  }

  /// The report's name that `text` is, else the reason why it is none.
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

  private static func isAllowed(_ character: Character) -> Bool {
    guard let ascii = character.asciiValue, character != "\r\n" else { return false }
    return character.isLetter || character.isNumber || "-_.~#:@+/".utf8.contains(ascii)
  }
}

extension ReportID: Codable {
  /// Reads the text form; anything else is a `DecodingError` with the ``Refusal``'s words.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    do {
      try self.init(validating: text)
    } catch {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: error.description))
    }
  }

  /// Writes the text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
