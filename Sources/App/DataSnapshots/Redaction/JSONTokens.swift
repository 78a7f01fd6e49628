import JSONText

/// The tokens of a text that is JSON, and where they are in it.
///
/// Redaction edits the text at the place of a token, so that all other bytes stay as they were: the order of keys, the
/// digits of numbers, white space.
struct JSONTokens {
  enum Kind { case string, number, boolean, null, object, list }

  /// A value, or the key of one.
  struct Token {
    let kind: Kind
    /// From its first byte to the one after its last.
    var range: Range<Int>
    let isKey: Bool
    /// The way down to the value; of a key, to its value.
    let place: [JSONPath.Step]
  }

  /// Why a text is no JSON.
  struct Malformed: Error, CustomStringConvertible {
    let failure: JSONFailure

    var description: String { "it begins as JSON does, but \(failure)" }
  }

  /// A container that is not closed yet.
  private struct Container {
    let token: Int
    /// How many elements of a list were read; `nil` in an object.
    var count: Int?
  }

  private var place: [JSONPath.Step] = []
  private var open: [Container] = []
  /// Every token, in the order of their first bytes.
  private(set) var tokens: [Token] = []

  /// Reads one value or several in a row.
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

  /// Steps to an element of a list; to a member of an object its key has stepped.
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
  /// How much a text looks like an object or a list.
  enum Opening {
    case other
    /// A list of numbers, or a line such as `[12:00] started`.
    case likeEither
    case likeJSON
  }

  /// How `text` begins.
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

  /// The UTF-8 of the text that a string stands for; `quoted` is its token.
  static func content(ofString quoted: ArraySlice<UInt8>) throws(Malformed) -> [UInt8] {
    guard quoted.contains(UInt8(ascii: "\\")) else { return Array(quoted.dropFirst().dropLast()) }
    var tokenizer = JSONTokenizer(configuration)
    tokenizer.feed(Array(quoted))
    do throws(JSONFailure) { _ = try tokenizer.next() } catch { throw Malformed(failure: error) }
    // Half a surrogate pair is no Unicode.
    return tokenizer.isUnicode ? tokenizer.text : Array(String(decoding: tokenizer.text, as: UTF8.self).utf8)
  }
}
