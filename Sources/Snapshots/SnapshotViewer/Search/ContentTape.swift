/// Reads the contents of a file from their beginning. Each call of the returned function returns the next bytes, at least
/// one; `nil` at the end.
package typealias ContentOpening = () throws -> () throws -> [UInt8]?

/// The bytes of a file, which can be read again from the beginning. Short files are kept for that; others are opened again.
struct ContentTape {
  private let open: ContentOpening
  private let limit: Int
  private var next: () throws -> [UInt8]?
  /// All pieces from the beginning, unless there are too many.
  private var held: [[UInt8]] = []
  private var heldCount = 0
  private var isHolding = true
  /// The number of held pieces that were read since the beginning.
  private var position = 0
  /// Opens a file.
  /// - Parameter limit: the maximum number of bytes that are kept.
  init(limit: Int, _ open: @escaping ContentOpening) throws {
    (self.open, self.limit) = (open, limit)
    next = try open()
  }

  /// The next bytes; `nil` at the end.
  mutating func read() throws -> [UInt8]? {
    if position < held.count {
      position += 1
      return held[position - 1]
    }
    guard let piece = try next() else { return nil }
    guard isHolding else { return piece }
    heldCount += piece.count
    if heldCount > limit {
      (held, position, isHolding) = ([], 0, false)
    } else {
      held.append(piece)
      position = held.count
    }
    return piece
  }

  /// All bytes that follow, at most `limit`; `nil` if there are more.
  mutating func all(upTo limit: Int) throws -> [UInt8]? {
    var all: [UInt8] = []
    while let piece = try read() {
      all += piece
      guard all.count <= limit else { return nil }
    }
    return all
  }

  /// Continues at the beginning.
  mutating func rewind() throws {
    position = 0
    if !isHolding { next = try open() }
  }
}

/// The text of a file in UTF-8, without a byte order mark of UTF-16 or UTF-32 and without NUL bytes at its end, as
/// ``ViewedText`` makes it.
struct ContentText {
  private var tape: ContentTape
  private let encoding: TextEncoding?
  /// Bytes that are no whole character yet, and NUL bytes that are left out if nothing follows.
  private var rest: [UInt8] = []
  private var padding = 0
  private var isAtStart = true

  /// The bytes are not in the encoding of the text.
  struct Invalid: Error {}

  init(_ tape: ContentTape, _ encoding: TextEncoding?) { (self.tape, self.encoding) = (tape, encoding) }

  /// The next bytes; `nil` at the end.
  mutating func read() throws -> [UInt8]? {
    while let piece = try tape.read() {
      let text = try encoding.map { try decode(piece, $0) } ?? withoutPadding(piece)
      if !text.isEmpty { return text }
    }
    guard rest.isEmpty else { throw Invalid() }
    return nil
  }

  /// The first bytes, at most ``ContentHead/length``, after which reading continues at the beginning.
  mutating func head() throws -> ContentHead {
    var head: [UInt8] = []
    while head.count < ContentHead.length, let piece = try read() { head += piece }
    try rewind()
    return ContentHead(Array(head.prefix(ContentHead.length)))
  }

  /// All bytes that follow, at most `limit`; `nil` if there are more.
  mutating func all(upTo limit: Int) throws -> [UInt8]? {
    var all: [UInt8] = []
    while let piece = try read() {
      all += piece
      guard all.count <= limit else { return nil }
    }
    return all
  }

  /// Continues at the beginning.
  mutating func rewind() throws {
    try tape.rewind()
    (rest, padding, isAtStart) = ([], 0, true)
  }

  private mutating func decode(_ piece: [UInt8], _ encoding: TextEncoding) throws -> [UInt8] {
    var bytes = rest + piece
    if isAtStart, bytes.count >= encoding.mark.count {
      isAtStart = false
      if bytes.starts(with: encoding.mark) { bytes.removeFirst(encoding.mark.count) }
    }
    var text: [UInt8] = []
    let (count, isInvalid) = encoding.decode(bytes, into: &text)
    guard !isInvalid else { throw Invalid() }
    rest = Array(bytes[count...])
    return withoutPadding(text)
  }

  private mutating func withoutPadding(_ piece: [UInt8]) -> [UInt8] {
    guard padding > 0 || piece.last == 0 else { return piece }
    guard let last = piece.lastIndex(where: { $0 != 0 }) else {
      padding += piece.count
      return []
    }
    // NUL bytes that something follows are part of the file. More of them than a piece has are no text anyway.
    let text = [UInt8](repeating: 0, count: min(padding, ContentHead.length)) + piece[...last]
    padding = piece.count - last - 1
    return text
  }
}
