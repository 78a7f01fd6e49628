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
