/// A place in a JSON document, spelled as `jq` reads it: `.items[3].title`, `.["a b"]`, and `.` for the whole document.
public struct JSONPath: Hashable, Sendable, CustomStringConvertible {
  /// One step down.
  public enum Step: Hashable, Sendable {
    /// To the value of a key.
    case key(String)
    /// To an element, counted from 0.
    case index(Int)
  }

  /// The steps from the top.
  public let steps: [Step]

  /// The place that `steps` lead to from the top.
  public init(_ steps: [Step] = []) { self.steps = steps }

  /// The place one step further down.
  package func appending(_ step: Step) -> JSONPath { JSONPath(steps + [step]) }

  /// The path as `jq` reads it.
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
