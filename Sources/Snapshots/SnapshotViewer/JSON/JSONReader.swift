import JSONText

/// Reads the tokens of a JSON document from any place on.
struct JSONReader {
  /// The number of bytes that are read at once.
  private static let pieceSize = 32 << 10

  private(set) var tokenizer: JSONTokenizer
  private let bytes: ViewedBytes
  private let configuration: JSONTokenizer.Configuration
  /// The offset of the next bytes to read.
  private var next: Int

  /// Starts reading at `offset`.
  /// - Parameter textLength: the maximum number of bytes of one key, string or number that are kept.
  init(
    _ bytes: ViewedBytes, from offset: Int, _ start: JSONTokenizer.Start, textLength: Int = 0,
    keepsEscapes: Bool = false
  ) {
    var configuration = JSONTokenizer.Configuration()
    configuration.textLength = textLength
    configuration.keepsEscapes = keepsEscapes
    configuration.allowsSequence = true
    self.configuration = configuration
    self.bytes = bytes
    tokenizer = JSONTokenizer(configuration, from: offset, start)
    next = offset
  }

  /// Continues at `offset`, behind a child of a container.
  mutating func skip(to offset: Int, in isObject: Bool?) {
    move(to: offset, isObject.map { .afterChild(isObject: $0) } ?? .value)
  }

  /// Continues at another place.
  mutating func move(to offset: Int, _ start: JSONTokenizer.Start) {
    tokenizer = JSONTokenizer(configuration, from: offset, start)
    next = offset
  }

  /// Passes over the rest of the innermost container, which is in a container of this kind.
  mutating func skipContainer(in isObject: Bool?) throws(ViewerError) {
    while !tokenizer.skipContainer() { try feed() }
    // After a move, the tokenizer knows only one container.
    if tokenizer.depth == 0, let isObject { skip(to: tokenizer.offset, in: isObject) }
  }

  /// The next token, or `nil` at the end of the document.
  mutating func token() throws(ViewerError) -> JSONTokenizer.Token? {
    while true {
      do {
        if let token = try tokenizer.next() { return token }
      } catch {
        throw .changed
      }
      guard next < bytes.size else {
        if tokenizer.isComplete { return nil }
        tokenizer.finish()
        do { return try tokenizer.next() } catch { throw .changed }
      }
      try feed()
    }
  }

  private mutating func feed() throws(ViewerError) {
    let piece = try bytes.read(upTo: Self.pieceSize, at: next)
    guard !piece.isEmpty else { throw .changed }
    next += piece.count
    tokenizer.feed(piece)
  }

  /// The text of the last key, string or number, decoded as far as it was kept. An incomplete character at the end is
  /// left out.
  var text: String { String(wholeCharactersOf: tokenizer.text[...]) }

  /// Whether the last text is longer than what was kept.
  var isTextCut: Bool { tokenizer.textLength > tokenizer.text.count }
}
