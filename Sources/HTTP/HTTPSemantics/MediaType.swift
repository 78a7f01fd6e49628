/// A media type with its parameters, such as `multipart/form-data; boundary=x` (RFC 9110 §8.3.1).
public struct MediaType: Sendable, Hashable {
  /// Type and subtype in lower case, such as `application/zip`.
  public let essence: String
  /// The parameters; names in lower case, values without quotes.
  public let parameters: [String: String]

  /// Reads the value of `Content-Type`. Returns `nil` if it is malformed or has a parameter twice.
  public init?(_ text: String) {
    var scanner = FieldScanner(text)
    scanner.skipWhitespace()
    guard let type = scanner.token(), scanner.take("/"), let subtype = scanner.token(),
      let parameters = scanner.parameters()
    else { return nil }
    essence = "\(type)/\(subtype)".lowercased()
    self.parameters = parameters
  }
}
