extension JSONTokenizer {
  /// Takes the next element of the innermost array as a whole, in place of its tokens: an object that `read` knows.
  ///
  /// ``text`` and what belongs to it stay as they were.
  /// - Parameter read: Gets the bytes at hand, and where in them the element begins; answers what it is and where it
  ///   ends, or `nil` where it is to be read token by token. It takes nothing but whole objects.
  /// - Returns: What `read` answered; `nil` where nothing was taken.
  mutating func takeElement<Element>(
    _ read: ([UInt8], Int) -> (element: Element, end: Int)?
  ) -> Element? {
    guard lexeme == .none, containers.last == false, containers.count < configuration.depth else {
      return nil
    }
    var index = JSONRun.spaceEnd(piece, from: position)
    switch expectation {
    case .valueOrEnd: break
    case .separator:
      guard index < piece.count, piece[index] == UInt8(ascii: ",") else { return nil }
      index = JSONRun.spaceEnd(piece, from: index + 1)
    default: return nil
    }
    guard let (element, end) = read(piece, index) else { return nil }
    start = base + index
    position = end
    range = start..<offset
    expectation = .separator
    return element
  }
}
