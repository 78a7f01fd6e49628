import Foundation

/// Data to which rules are applied one after the other. Its text, its tokens and its strings are computed once, and again
/// only after a rule has changed it.
struct RedactableDocument {
  /// The keys, strings and numbers of JSON, unescaped and joined to one text, a line for each, so that a rule runs only
  /// once.
  struct Strings {
    var lines: [UInt8] = []
    var places: [(line: Range<Int>, token: JSONTokens.Token)] = []
  }

  private enum Parsed {
    case json(JSONTokens)
    /// Not JSON. The error is `nil` if it does not begin like JSON.
    case other((any Error)?)
  }

  /// The data if nothing was changed.
  private let original: Data
  private var isChanged = false
  private var parsed: Parsed?
  private var joined: Strings?

  /// The text of the data.
  var text: RedactableText {
    didSet {
      isChanged = true
      parsed = nil
      joined = nil
    }
  }

  init(_ data: Data) {
    original = data
    text = RedactableText(data)
  }

  /// The data with all changes.
  var data: Data { isChanged ? text.data : original }

  /// Returns the tokens, or `nil` if the data is not JSON. Throws for text that begins like JSON but is invalid, if
  /// `mustBeJSON` is true.
  mutating func tokens(mustBeJSON: Bool) throws -> JSONTokens? {
    let known = parsed ?? parse()
    parsed = known
    switch known {
    case .json(let tokens): return tokens
    case .other(let error?) where mustBeJSON: throw error
    case .other: return nil
    }
  }

  private func parse() -> Parsed {
    let opening = JSONTokens.opening(of: text.bytes)
    guard opening != .other else { return .other(nil) }
    do {
      return .json(try JSONTokens(text.bytes))
    } catch {
      return .other(opening == .likeJSON ? error : nil)
    }
  }

  /// Returns the strings; none if the data is not JSON.
  mutating func strings() throws -> Strings {
    if let joined { return joined }
    var strings = Strings()
    guard let json = try tokens(mustBeJSON: false) else { return strings }
    strings.lines.reserveCapacity(text.bytes.count)
    for token in json.tokens where token.kind == .string || token.kind == .number {
      let source = text.bytes[token.range]
      let start = strings.lines.count
      if token.kind == .number {
        strings.lines += source
      } else if source.contains(UInt8(ascii: "\\")) {
        strings.lines += try JSONTokens.content(ofString: source)
      } else {
        strings.lines += text.bytes[token.range.lowerBound + 1..<token.range.upperBound - 1]
      }
      strings.places.append((start..<strings.lines.count, token))
      strings.lines.append(UInt8(ascii: "\n"))
    }
    joined = strings
    return strings
  }
}
