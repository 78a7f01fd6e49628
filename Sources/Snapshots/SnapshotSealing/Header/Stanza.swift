import JSONText

/// A part of a header that contains the file's key, encrypted for one recipient. Its text is canonical, so that a stanza
/// of an unknown type is written as it was read.
package struct Stanza: Hashable, Sendable {
  /// The arguments, of which the first is the type.
  package let arguments: [String]
  /// The encrypted key.
  package let body: [UInt8]

  /// The type of the recipient.
  package var type: String { arguments.first ?? "" }

  /// The lines of the stanza.
  var text: String {
    let digits = Base64.encodeUnpadded(body)
    var text = "-> " + arguments.joined(separator: " ") + "\n"
    for start in stride(from: 0, through: digits.utf8.count, by: HeaderFormat.columns) {
      text += digits.dropFirst(start).prefix(HeaderFormat.columns) + "\n"
    }
    return text
  }
}

extension Base64 {
  /// The digits without padding, as headers have them.
  static func encodeUnpadded(_ bytes: some Collection<UInt8>) -> String {
    String(decoding: encode(bytes).prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
  }

  /// Decodes digits without padding; `nil` if they are not canonical.
  static func decodeUnpadded(_ text: some StringProtocol) -> [UInt8]? {
    text.utf8.contains(UInt8(ascii: "=")) ? nil : decode(String(text))
  }
}
