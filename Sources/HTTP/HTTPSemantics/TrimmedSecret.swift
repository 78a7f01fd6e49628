extension StringProtocol {
  /// A secret from a file, a variable or the clipboard, without what editors, shells and settings leave around it: a byte
  /// order mark, white space and line ends, and pairs of quotes.
  package var trimmedSecret: String {
    var rest = Substring(self).unicodeScalars
    while true {
      while let first = rest.first, Self.isInvisible(first) { rest.removeFirst() }
      while let last = rest.last, Self.isInvisible(last) { rest.removeLast() }
      guard rest.count > 1, let quote = rest.first, quote == "\"" || quote == "'", rest.last == quote else {
        break
      }
      rest = rest.dropFirst().dropLast()
    }
    return String(rest)
  }

  /// Whether the scalar is white space, or one that has no width.
  private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isWhitespace || scalar == "\u{FEFF}" || scalar == "\u{200B}"
  }
}
