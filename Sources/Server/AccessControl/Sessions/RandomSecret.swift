/// 256 random bits as text for cookies and forms.
enum RandomSecret {
  /// How many characters such a text has.
  private static let length = 43

  /// A new one.
  static func make() -> String {
    var generator = SystemRandomNumberGenerator()
    return Base64URL.encode((0..<32).map { _ in generator.next() as UInt8 })
  }

  /// Whether `text` may be one.
  static func isOne(_ text: String) -> Bool { text.utf8.count == length && Base64URL.decode(text) != nil }
}
