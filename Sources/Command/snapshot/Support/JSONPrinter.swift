import JSONText

/// Formats JSON documents that arrive in pieces, with one value in each line, or each document in one line. Numbers and
/// strings stay as written.
struct JSONPrinter {
  private var tokenizer: JSONTokenizer
  /// The containers that have not ended: whether each is an object, and whether it has no children yet.
  private var open: [(isObject: Bool, isEmpty: Bool)] = []
  private var isAfterKey = false
  private var isFirst = true
  private var output: [UInt8] = []
  private let isCompact: Bool

  /// - Parameter isCompact: whether a document is written in one line.
  init(isCompact: Bool = false) {
    self.isCompact = isCompact
    var configuration = JSONTokenizer.Configuration()
    configuration.keepsEscapes = true
    configuration.allowsSequence = true
    tokenizer = JSONTokenizer(configuration)
  }

  /// Takes the next bytes, and returns the text that is complete.
  mutating func take(_ piece: [UInt8]) throws(JSONFailure) -> [UInt8] {
    tokenizer.feed(piece)
    return try read()
  }

  /// Takes the end, and returns the rest of the text.
  mutating func finish() throws(JSONFailure) -> [UInt8] {
    tokenizer.finish()
    var rest = try read()
    if !isFirst { rest.append(UInt8(ascii: "\n")) }
    return rest
  }

  private mutating func read() throws(JSONFailure) -> [UInt8] {
    while let token = try tokenizer.next() { add(token) }
    defer { output = [] }
    return output
  }

  private mutating func add(_ token: JSONTokenizer.Token) {
    switch token {
    case .endObject, .endArray:
      let isEmpty = open.popLast()?.isEmpty ?? true
      if !isEmpty { breakLine() }
      output.append(UInt8(ascii: token == .endObject ? "}" : "]"))
      return
    default: begin()
    }
    switch token {
    case .key:
      output += [UInt8(ascii: "\"")] + tokenizer.text + Array("\": ".utf8)
      isAfterKey = true
    case .beginObject, .beginArray:
      output.append(UInt8(ascii: token == .beginObject ? "{" : "["))
      open.append((token == .beginObject, true))
    case .string: output += [UInt8(ascii: "\"")] + tokenizer.text + [UInt8(ascii: "\"")]
    case .number: output += tokenizer.text
    case .boolean(let value): output += (value ? "true" : "false").utf8
    case .null: output += "null".utf8
    case .endObject, .endArray: break
    }
  }

  /// Separates a key or a value from what is before it.
  private mutating func begin() {
    if isAfterKey {
      isAfterKey = false
    } else if open.isEmpty {
      if !isFirst { output.append(UInt8(ascii: "\n")) }
    } else {
      if !open[open.count - 1].isEmpty { output.append(UInt8(ascii: ",")) }
      open[open.count - 1].isEmpty = false
      breakLine()
    }
    isFirst = false
  }

  private mutating func breakLine() {
    if isCompact { return }
    output.append(UInt8(ascii: "\n"))
    output += [UInt8](repeating: 0x20, count: 2 * open.count)
  }
}
