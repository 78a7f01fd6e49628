package import JSONText

/// A part of a long string.
package struct JSONStringPage: Sendable, Hashable {
  /// The maximum number of bytes of a part, as written in the document.
  package static let size = JSONStringPieces.size

  /// The path to the string.
  package let path: JSONPath
  /// The decoded part.
  package let text: String
  /// The part as written in the document, with its escape sequences.
  package let source: String
  /// The number of bytes of the string before the part, as written in the document.
  package let from: Int
  /// The place of the next part; `nil` at the end.
  package let next: Int?
  /// The number of bytes of the string, as written in the document.
  package let count: Int

  /// Reads a part of the string at `place`; `nil` if there is no string. `from` is 0 or the ``next`` of another part.
  package init?(_ view: JSONView, _ place: JSONPlace, from: Int = 0) throws(ViewerError) {
    guard var pieces = try JSONStringPieces(view, place, from: from), let piece = try pieces.next() else {
      return nil
    }
    text = String(wholeCharactersOf: piece.text[...])
    path = place.path
    source = String(decoding: piece.source, as: UTF8.self)
    (count, self.from, next) = (pieces.count, from, pieces.isAtEnd ? nil : pieces.from)
  }
}
