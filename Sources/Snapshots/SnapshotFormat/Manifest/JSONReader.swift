import JSONText

/// Reads JSON token by token and requests its input piece by piece: a ``JSONTokenizer`` with its source.
struct JSONReader {
  /// The reason why reading ended early.
  enum Stop: Error {
    /// The input is not valid JSON, or nested too deeply.
    case malformed(JSONFailure)
    /// The source failed.
    case source(BundleError)
  }

  /// The tokenizer, for the text, range and depth of the current token.
  private(set) var tokenizer: JSONTokenizer

  private let source: () throws(BundleError) -> [UInt8]?

  /// Starts reading the pieces that `source` returns, until it returns `nil`.
  init(
    _ configuration: JSONTokenizer.Configuration = JSONTokenizer.Configuration(),
    source: @escaping () throws(BundleError) -> [UInt8]?
  ) {
    tokenizer = JSONTokenizer(configuration)
    self.source = source
  }

  /// The next token; `nil` at the end of a complete document.
  mutating func next() throws(Stop) -> JSONTokenizer.Token? {
    while true {
      do {
        if let token = try tokenizer.next() { return token }
      } catch {
        throw .malformed(error)
      }
      if tokenizer.isComplete { return nil }
      do {
        if let piece = try source() { tokenizer.feed(piece) } else { tokenizer.finish() }
      } catch {
        throw .source(error)
      }
    }
  }
}
