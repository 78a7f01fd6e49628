import JSONText

/// The tokens of a JSON text, with their ranges.
///
/// Redaction replaces the range of a token, so that all other bytes remain unchanged: the order of keys, the digits of
/// numbers, and white space.
struct JSONTokens {
  enum Kind { case string, number, boolean, null, object, list }

  /// A value or a key.
  struct Token {
    let kind: Kind
    /// The range of the token's bytes.
    var range: Range<Int>
    let isKey: Bool
    /// The path of the value; for a key, the path of its value.
    let place: [JSONPath.Step]
  }

  /// The reason why a text is not valid JSON.
  struct Malformed: Error, CustomStringConvertible {
    let failure: JSONFailure

    var description: String { "it begins like JSON, but \(failure)" }
  }

  /// A container that is not complete yet.
  private struct Container {
    let token: Int
    /// The number of elements read so far; `nil` for an object.
    var count: Int?
  }

  private var place: [JSONPath.Step] = []
  private var open: [Container] = []
  /// All tokens, ordered by their first bytes.
  private(set) var tokens: [Token] = []

  /// Parses one JSON value or a sequence of values.
  init(_ text: [UInt8]) throws(Malformed) {
    var tokenizer = JSONTokenizer(Self.configuration)
    tokenizer.feed(text)
    tokenizer.finish()
    do throws(JSONFailure) {
      while let token = try tokenizer.next() { take(token, tokenizer) }
    } catch {
      throw Malformed(failure: error)
    }
  }

  private static let configuration: JSONTokenizer.Configuration = {
    var configuration = JSONTokenizer.Configuration()
    configuration.depth = 256
    configuration.isLenient = true
    return configuration
  }()

  private mutating func take(_ token: JSONTokenizer.Token, _ tokenizer: JSONTokenizer) {
    switch token {
    case .key:
      place.append(.key(String(decoding: tokenizer.text, as: UTF8.self)))
      append(.string, tokenizer, isKey: true)
    case .beginObject: begin(.object, tokenizer)
    case .beginArray: begin(.list, tokenizer)
    case .endObject, .endArray:
      if let container = open.popLast() {
        let start = tokens[container.token].range.lowerBound
        tokens[container.token].range = start..<tokenizer.range.upperBound
      }
      endValue()
    case .string: appendValue(.string, tokenizer)
    case .number: appendValue(.number, tokenizer)
    case .boolean: appendValue(.boolean, tokenizer)
    case .null: appendValue(.null, tokenizer)
    }
  }

  private mutating func append(_ kind: Kind, _ tokenizer: JSONTokenizer, isKey: Bool = false) {
    tokens.append(Token(kind: kind, range: tokenizer.range, isKey: isKey, place: place))
  }

  private mutating func appendValue(_ kind: Kind, _ tokenizer: JSONTokenizer) {
    beginValue()
    append(kind, tokenizer)
    endValue()
  }

  private mutating func begin(_ kind: Kind, _ tokenizer: JSONTokenizer) {
    beginValue()
    open.append(Container(token: tokens.count, count: kind == .list ? 0 : nil))
    append(kind, tokenizer)
  }

  /// Adds the index of the next element in an array to the path. In an object, the key has already been added.
  private mutating func beginValue() {
    guard let count = open.last?.count else { return }
    place.append(.index(count))
    open[open.count - 1].count = count + 1
  }

  private mutating func endValue() {
    if !open.isEmpty { place.removeLast() }
  }
}

// MARK: - Single tokens

extension JSONTokens {
  /// The degree to which the start of a text looks like an object or an array.
  enum Opening {
    case other
    /// An array of numbers, or a line such as `[12:00] started`.
    case likeEither
    case likeJSON
  }

  /// Classifies the start of `text`.
  static func opening(of text: [UInt8]) -> Opening {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let start = text.starts(with: mark) ? mark.count : 0
    let characters = text[start...].lazy.filter { !isSpace($0) }.prefix(2).map { Unicode.Scalar($0) }
    var iterator = characters.makeIterator()
    switch (iterator.next(), iterator.next()) {
    case ("{"?, _), ("["?, "{"?), ("["?, "["?), ("["?, "\""?): return .likeJSON
    case ("["?, _): return .likeEither
    default: return .other
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
  }

  /// Decodes a string; `quoted` is its token. Returns UTF-8.
  static func content(ofString quoted: ArraySlice<UInt8>) throws(Malformed) -> [UInt8] {
    guard quoted.contains(UInt8(ascii: "\\")) else { return Array(quoted.dropFirst().dropLast()) }
    var tokenizer = JSONTokenizer(configuration)
    tokenizer.feed(Array(quoted))
    do throws(JSONFailure) { _ = try tokenizer.next() } catch { throw Malformed(failure: error) }
    // An unpaired surrogate can't be represented in UTF-8.
    return tokenizer.isUnicode ? tokenizer.text : Array(String(decoding: tokenizer.text, as: UTF8.self).utf8)
  }
}
