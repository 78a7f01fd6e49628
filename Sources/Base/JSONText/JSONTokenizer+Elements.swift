/// Reading elements of an array as a whole, in place of their tokens: for a reader that knows how most of them are spelled.
extension JSONTokenizer {
  /// Where in ``piece`` the next element of the innermost array begins; `nil` where none does, or where no array is open.
  package var nextElement: Int? {
    guard lexeme == .none, containers.last == false, containers.count < configuration.depth else {
      return nil
    }
    let index = JSONRun.spaceEnd(piece, from: position)
    switch expectation {
    case .valueOrEnd: return index
    case .separator:
      guard index < piece.count, piece[index] == UInt8(ascii: ",") else { return nil }
      return JSONRun.spaceEnd(piece, from: index + 1)
    default: return nil
    }
  }

  /// Takes the element that ``nextElement`` found: an object that was read to `end`. ``text`` and what belongs to it stay
  /// as they were.
  package mutating func takeElement(from index: Int, to end: Int) {
    start = base + index
    position = end
    range = start..<offset
    expectation = .separator
  }
}
