import JSONText

extension FuzzedParser {
  /// A document is parsed to the same tokens for every split. The beginning of a text does not depend on how much of it
  /// is kept. Tokens that are formatted and parsed again are the same.
  func checkJSON(_ input: [UInt8]) throws {
    let whole = JSONTokens(Splits.whole.pieces(of: input))
    for splits in Splits.allCases {
      let split = JSONTokens(splits.pieces(of: input))
      try require(split == whole, "in pieces it is \(split), as a whole \(whole)")
    }
    var configuration = JSONTokenizer.Configuration()
    configuration.textLength = 3
    let short = JSONTokens([input[...]], configuration)
    try require(short.failure == whole.failure, "with short texts the error differs")
    for (cut, token) in zip(short.tokens, whole.tokens) {
      try require(
        cut.kind == token.kind && token.text.starts(with: cut.text) && cut.length == token.length,
        "\(token.kind) is cut as \(cut.kind)")
    }
    var end = 0
    for token in whole.tokens {
      try require(
        token.range.lowerBound >= end && !token.range.isEmpty, "\(token.kind) overlaps another token")
      try require(token.range.upperBound <= input.count, "\(token.kind) is outside the input")
      end = token.range.upperBound
    }
    guard whole.failure == nil else { return }
    try require(!whole.tokens.isEmpty, "a document has no tokens")
    configuration.textLength = .max
    configuration.keepsEscapes = true
    let spelt = JSONTokens([input[...]], configuration)
    let again = JSONTokens([spelt.written[...]])
    try require(
      again.failure == nil && again.tokens.map(\.kind) == whole.tokens.map(\.kind)
        && again.tokens.map(\.text) == whole.tokens.map(\.text), "it is formatted as something else")
  }
}

/// The tokens of a document, and the error if there is one.
private struct JSONTokens: Equatable {
  struct Read: Equatable {
    let kind: JSONTokenizer.Token
    let text: [UInt8]
    let length: Int
    let range: Range<Int>
  }

  private(set) var tokens: [Read] = []
  private(set) var failure: JSONFailure?

  init(
    _ pieces: [ArraySlice<UInt8>],
    _ configuration: JSONTokenizer.Configuration = JSONTokenizer.Configuration()
  ) {
    var tokenizer = JSONTokenizer(configuration)
    do throws(JSONFailure) {
      for piece in pieces {
        tokenizer.feed(Array(piece))
        try read(&tokenizer)
      }
      tokenizer.finish()
      try read(&tokenizer)
    } catch {
      failure = error
    }
  }

  private mutating func read(_ tokenizer: inout JSONTokenizer) throws(JSONFailure) {
    while let token = try tokenizer.next() {
      let hasText = [.key, .string, .number].contains(token)
      tokens.append(
        Read(
          kind: token, text: hasText ? tokenizer.text : [], length: hasText ? tokenizer.textLength : 0,
          range: tokenizer.range))
    }
  }

  /// The document again, with spaces between its tokens and texts in their original spelling.
  var written: [UInt8] {
    var bytes: [UInt8] = []
    var before: JSONTokenizer.Token?
    for token in tokens {
      let isEnd = token.kind == .endObject || token.kind == .endArray
      if let before, before != .beginObject, before != .beginArray, before != .key, !isEnd {
        bytes += Array(" , ".utf8)
      }
      switch token.kind {
      case .beginObject: bytes.append(UInt8(ascii: "{"))
      case .endObject: bytes.append(UInt8(ascii: "}"))
      case .beginArray: bytes.append(UInt8(ascii: "["))
      case .endArray: bytes.append(UInt8(ascii: "]"))
      case .key: bytes += Array("\"".utf8) + token.text + Array("\" : ".utf8)
      case .string: bytes += Array("\"".utf8) + token.text + Array("\"".utf8)
      case .number: bytes += token.text
      case .boolean(let value): bytes += Array((value ? "true" : "false").utf8)
      case .null: bytes += Array("null".utf8)
      }
      before = token.kind
    }
    return bytes
  }
}
