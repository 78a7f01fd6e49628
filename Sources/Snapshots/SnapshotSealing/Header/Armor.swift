import JSONText

/// The form of a sealed file as text. Only identity files are read in this form.
package enum Armor {
  private static let end = "-----END AGE ENCRYPTED FILE-----"

  /// Whether `text` is armored. White space before the armor is allowed.
  package static func isArmored(_ text: [UInt8]) -> Bool {
    text.drop(while: isSpace).starts(with: HeaderFormat.armorStart.utf8)
  }

  /// The bytes of the file. Lines end with LF or CRLF, and white space around the armor is allowed; anything else that is
  /// not canonical is refused.
  package static func decode(_ text: [UInt8]) throws(SealingError) -> [UInt8] {
    let inner = text.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
    var lines = Array(inner).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
      $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0
    }
    guard lines.count >= 2, lines.removeFirst().elementsEqual(HeaderFormat.armorStart.utf8),
      lines.removeLast().elementsEqual(end.utf8)
    else { throw .malformedArmor }
    guard let last = lines.last else { return [] }
    guard !last.isEmpty, last.count <= HeaderFormat.columns, last.count.isMultiple(of: 4),
      lines.dropLast().allSatisfy({ $0.count == HeaderFormat.columns }),
      let bytes = Base64.decode(String(decoding: lines.joined(), as: UTF8.self))
    else { throw .malformedArmor }
    return bytes
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (9...13).contains(byte) }
}
