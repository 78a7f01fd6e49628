/// A position in a JSON document, in the syntax of `jq`: `.items[3].title`, `.["a b"]`, and `.` for the whole document.
public struct JSONPath: Hashable, Sendable, CustomStringConvertible {
  /// A step from a value to one of its children.
  public enum Step: Hashable, Sendable {
    /// The value of a key in an object.
    case key(String)
    /// An element of an array; the first has index 0.
    case index(Int)
  }

  /// The steps from the top-level value.
  public let steps: [Step]

  /// Creates a path from its steps, starting at the top-level value.
  public init(_ steps: [Step] = []) { self.steps = steps }

  /// This path extended by one step.
  package func appending(_ step: Step) -> JSONPath { JSONPath(steps + [step]) }

  /// The path in the syntax of `jq`.
  public var description: String {
    var text = ""
    for step in steps {
      switch step {
      case .key(let key) where Self.isPlain(key): text += ".\(key)"
      case .key(let key): text += (text.isEmpty ? "." : "") + "[\(JSONString.quoted(key))]"
      case .index(let index): text += (text.isEmpty ? "." : "") + "[\(index)]"
      }
    }
    return text.isEmpty ? "." : text
  }

  /// The path as a JSON Pointer (RFC 6901): `/items/3/title`, and an empty text for the whole document.
  public var pointer: String {
    steps.map { step in
      switch step {
      case .key(let key): "/" + Self.escaped(key)
      case .index(let index): "/\(index)"
      }
    }.joined()
  }

  /// The tokens of a JSON Pointer (RFC 6901 §3), decoded. `nil` if `pointer` is not one. A token of digits stands for
  /// an index in an array, and for a key in an object.
  package static func tokens(ofPointer pointer: String) -> [String]? {
    guard !pointer.isEmpty else { return [] }
    guard pointer.utf8.first == UInt8(ascii: "/") else { return nil }
    var tokens: [String] = []
    // Not by characters, because a slash and an accent after it are one character.
    let parts = pointer.unicodeScalars.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    for part in parts {
      var token = String.UnicodeScalarView()
      var scalars = part.makeIterator()
      while let scalar = scalars.next() {
        guard scalar == "~" else {
          token.append(scalar)
          continue
        }
        switch scalars.next() {
        case "0": token.append("~")
        case "1": token.append("/")
        default: return nil
        }
      }
      tokens.append(String(token))
    }
    return tokens
  }

  /// The tokens of a path in the syntax of ``description``, as those of a JSON Pointer. `nil` if `text` is not one.
  package static func tokens(ofPath text: String) -> [String]? {
    var rest = Array(text.utf8)[...]
    guard rest.first == UInt8(ascii: ".") else { return nil }
    if rest.count == 1 { return [] }
    if rest.dropFirst().first == UInt8(ascii: "[") { rest.removeFirst() }
    var tokens: [String] = []
    while let first = rest.popFirst() {
      if first == UInt8(ascii: ".") {
        let key = rest.prefix { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "[") }
        guard !key.isEmpty else { return nil }
        tokens.append(String(decoding: key, as: UTF8.self))
        rest = rest.dropFirst(key.count)
      } else if first == UInt8(ascii: "["), rest.first == UInt8(ascii: "\"") {
        var tokenizer = JSONTokenizer()
        tokenizer.feed(Array(rest))
        do { guard try tokenizer.next() == .string else { return nil } } catch { return nil }
        tokens.append(String(decoding: tokenizer.text, as: UTF8.self))
        rest = rest.dropFirst(tokenizer.range.upperBound)
        guard rest.popFirst() == UInt8(ascii: "]") else { return nil }
      } else if first == UInt8(ascii: "[") {
        let digits = rest.prefix { $0 != UInt8(ascii: "]") }
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }), digits.count < rest.count
        else { return nil }
        tokens.append(String(decoding: digits, as: UTF8.self))
        rest = rest.dropFirst(digits.count + 1)
      } else {
        return nil
      }
    }
    return tokens
  }

  private static func escaped(_ key: String) -> String {
    guard key.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return key }
    var escaped = String.UnicodeScalarView()
    for scalar in key.unicodeScalars {
      switch scalar {
      case "~": escaped.append(contentsOf: "~0".unicodeScalars)
      case "/": escaped.append(contentsOf: "~1".unicodeScalars)
      default: escaped.append(scalar)
      }
    }
    return String(escaped)
  }

  private static func isPlain(_ key: String) -> Bool {
    guard let first = key.utf8.first, !(0x30...0x39).contains(first) else { return false }
    return key.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F: true
      default: false
      }
    }
  }
}
