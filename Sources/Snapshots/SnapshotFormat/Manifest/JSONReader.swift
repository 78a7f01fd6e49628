import JSONText

/// Reads JSON token by token out of pieces that it asks for as it needs them: a ``JSONTokenizer`` with its source.
struct JSONReader {
  /// Why nothing more is read.
  enum Stop: Error {
    /// It is no JSON that can be read.
    case malformed(JSONFailure)
    /// The pieces could not be had.
    case source(BundleError)
  }

  /// The token's text, range and depth.
  private(set) var tokenizer: JSONTokenizer

  private let source: () throws(BundleError) -> [UInt8]?

  /// Begins to read what `source` gives, piece by piece up to `nil`.
  init(
    _ configuration: JSONTokenizer.Configuration = JSONTokenizer.Configuration(),
    source: @escaping () throws(BundleError) -> [UInt8]?
  ) {
    tokenizer = JSONTokenizer(configuration)
    self.source = source
  }

  /// The next token; `nil` at the end of a whole document.
  mutating func next() throws(Stop) -> JSONTokenizer.Token? {
    while true {
      do throws(JSONFailure) {
        if let token = try tokenizer.next() { return token }
      } catch {
        throw .malformed(error)
      }
      if tokenizer.isComplete { return nil }
      do throws(BundleError) {
        if let piece = try source() { tokenizer.feed(piece) } else { tokenizer.finish() }
      } catch {
        throw .source(error)
      }
    }
  }

  /// Takes the next element of an array as a whole, in place of its tokens: an object that `read` knows.
  /// - Parameter read: Gets the bytes at hand, and where in them the element begins; answers what it is and where it
  ///   ends, or `nil` where it is to be read token by token. It takes nothing but whole objects.
  /// - Returns: What `read` answered; `nil` where nothing was taken.
  mutating func takeElement<Element>(
    _ read: ([UInt8], Int) -> (element: Element, end: Int)?
  ) -> Element? {
    guard let start = tokenizer.nextElement, let (element, end) = read(tokenizer.piece, start) else {
      return nil
    }
    tokenizer.takeElement(from: start, to: end)
    return element
  }
}
