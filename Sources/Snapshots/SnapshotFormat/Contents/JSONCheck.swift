import JSONText

/// Reads JSON to its end, and finds the place at which it is not valid.
struct JSONCheck {
  /// The first problem; `nil` if there is none so far.
  private(set) var problem: RecordingProblem?

  private var tokenizer: JSONTokenizer
  private var place = TextPlace()
  private var documents = 0
  /// The number of tokens, as far as it matters.
  private var tokens = 0
  private var isObject = false
  private var isStopped = false

  init() {
    var configuration = JSONTokenizer.Configuration()
    configuration.textLength = 0
    configuration.allowsSequence = true
    tokenizer = JSONTokenizer(configuration)
  }

  /// Whether there are several documents.
  var isSequence: Bool { problem == nil && documents > 1 }

  /// Whether what was read is JSON rather than text that begins with a bracket, such as `[2026-11-27 10:00] Started`.
  var isEvident: Bool { isObject || tokens > 2 }

  mutating func take(_ piece: [UInt8]) {
    guard !isStopped else { return }
    tokenizer.feed(piece)
    read(piece)
    place.pass(piece)
  }

  mutating func finish() {
    guard !isStopped else { return }
    tokenizer.finish()
    read([])
  }

  private mutating func read(_ piece: [UInt8]) {
    do {
      while let token = try tokenizer.next() {
        if tokens == 0 { isObject = token == .beginObject }
        if tokens < 3 { tokens += 1 }
        let isClosing = token == .endObject || token == .endArray
        if tokenizer.depth == 0, isClosing || tokens == 1 { documents += 1 }
      }
    } catch {
      isStopped = true
      switch error.reason {
      // It can still be valid.
      case .depth: break
      case .incomplete: problem = .cutOff(bytes: Int64(error.offset))
      case .unexpected, .notUTF8:
        let (line, column) = place.lineAndColumn(of: error.offset, in: piece)
        problem = .invalidJSON(line: line, column: column)
      }
    }
  }
}

/// Counts lines and columns in text that arrives in pieces.
struct TextPlace {
  /// The offset of the next piece.
  private var offset = 0
  /// The number of line ends, and of Unicode scalars after the last one.
  private var lines = 0
  private var scalars = 0

  mutating func pass(_ piece: [UInt8]) {
    count(piece[...])
    offset += piece.count
  }

  /// The line and the column of the byte at `offset`, both from 1. The byte is in `piece`, which is not passed yet.
  func lineAndColumn(of byte: Int, in piece: [UInt8]) -> (line: Int, column: Int) {
    var place = self
    place.count(piece.prefix(max(0, byte - offset)))
    return (place.lines + 1, place.scalars + 1)
  }

  private mutating func count(_ bytes: ArraySlice<UInt8>) {
    for byte in bytes {
      if byte == UInt8(ascii: "\n") {
        lines += 1
        scalars = 0
      } else if byte & 0xC0 != 0x80 {
        scalars += 1
      }
    }
  }
}
