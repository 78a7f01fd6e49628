/// Reads JSON token by token out of pieces that it asks for as it needs them: a ``JSONTokenizer`` with its source.
public struct JSONReader {
  /// Why nothing more is read.
  public enum Stop: Error {
    /// It is no JSON that can be read.
    case malformed(JSONFailure)
    /// The pieces could not be had.
    case source(BundleError)
  }

  /// The token's text, range and depth.
  public private(set) var tokenizer: JSONTokenizer

  private let source: () throws(BundleError) -> [UInt8]?

  /// Begins to read what `source` gives, piece by piece up to `nil`.
  public init(
    _ configuration: JSONTokenizer.Configuration = JSONTokenizer.Configuration(),
    source: @escaping () throws(BundleError) -> [UInt8]?
  ) {
    tokenizer = JSONTokenizer(configuration)
    self.source = source
  }

  /// The next token; `nil` at the end of a whole document.
  public mutating func next() throws(Stop) -> JSONTokenizer.Token? {
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

  /// The next element of an array as a whole, as ``JSONTokenizer/takeElement(_:)`` says: of the pieces that have come.
  mutating func takeElement<Element>(
    _ read: ([UInt8], Int) -> (element: Element, end: Int)?
  ) -> Element? {
    tokenizer.takeElement(read)
  }
}
