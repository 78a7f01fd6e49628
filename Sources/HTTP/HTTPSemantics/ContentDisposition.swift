/// The value of `Content-Disposition`: how the recipient handles a body, and its name (RFC 6266; in forms RFC 7578
/// §4.2).
public struct ContentDisposition: Sendable, Hashable {
  /// `attachment`, `inline` or `form-data`, in lower case.
  public let kind: String
  /// The form field's name.
  public let name: String?
  /// The name of the file. It comes from the client: never use it as a path.
  public let fileName: String?

  /// Creates a disposition from its parts.
  public init(kind: String, name: String? = nil, fileName: String? = nil) {
    self.kind = kind
    self.name = name
    self.fileName = fileName
  }

  /// Returns a disposition that makes browsers save the body under `fileName`.
  public static func attachment(_ fileName: String) -> ContentDisposition {
    ContentDisposition(kind: "attachment", fileName: fileName)
  }

  /// Reads a field's value. Returns `nil` if it is malformed. A well-formed `filename*` takes precedence over
  /// `filename`.
  public init?(parsing text: String) {
    var scanner = FieldScanner(text)
    scanner.skipWhitespace()
    guard let kind = scanner.token(), let parameters = scanner.parameters() else { return nil }
    self.kind = kind.lowercased()
    name = parameters["name"]
    fileName = parameters["filename*"].flatMap(Self.extendedValue) ?? parameters["filename"]
  }

  /// The field's value. In `filename`, `_` replaces each character that is not ASCII or can't be in quotes; in this
  /// case a percent-encoded `filename*` with the exact name follows (RFC 8187).
  public var fieldValue: String {
    var value = kind
    if let name { value += "; name=\"\(Self.plain(name))\"" }
    if let fileName {
      let plain = Self.plain(fileName)
      value += "; filename=\"\(plain)\""
      if plain != fileName { value += "; filename*=UTF-8''\(PercentCoding.encode(fileName))" }
    }
    return value
  }

  private static func plain(_ text: String) -> String {
    func isPlain(_ scalar: Unicode.Scalar) -> Bool {
      scalar.value >= 0x20 && scalar.value < 0x7F && scalar != "\"" && scalar != "\\" && scalar != "%"
    }
    guard !text.unicodeScalars.allSatisfy(isPlain) else { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.map { isPlain($0) ? $0 : "_" }))
  }

  /// Decodes the form `UTF-8'language'escaped` (RFC 8187 §3.2).
  private static func extendedValue(_ text: String) -> String? {
    let parts = text.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
    do { return try PercentCoding.decode(parts[2]) } catch { return nil }
  }
}
