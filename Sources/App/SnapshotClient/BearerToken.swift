import HTTPTypes

/// What tells the server who asks (RFC 6750). It never shows itself in print, in a dump or in a mirror.
struct BearerToken: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  private let text: String

  /// Takes 1 to `limit` visible ASCII characters.
  init(_ text: String, limit: Int) throws(SnapshotClientError) {
    guard !text.isEmpty, text.utf8.count <= limit, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw SnapshotClientError(
        .invalidToken, "a token is 1 to \(limit) visible ASCII characters, without spaces or line breaks")
    }
    self.text = text
  }

  /// The field that carries it.
  var field: HTTPField {
    var field = HTTPField(name: .authorization, value: "Bearer \(text)")
    field.indexingStrategy = .disallow
    return field
  }

  var description: String { "(token)" }
  var debugDescription: String { description }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
