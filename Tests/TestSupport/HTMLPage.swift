/// A page's HTML, parsed more strictly than by browsers: elements are closed in order, every attribute is quoted, and
/// `<` occurs nowhere else. Unescaped text that becomes markup therefore makes the page invalid.
public struct HTMLPage: Sendable {
  /// An element.
  public struct Element: Sendable {
    /// The name as written.
    public let name: String
    /// The attributes, not decoded. An attribute without a value has an empty one.
    public let attributes: [String: String]
    /// The text of the element and its descendants, not decoded.
    public fileprivate(set) var text = ""
    /// The names of the enclosing elements, outermost first.
    public let ancestors: [String]
  }

  /// An error in a page.
  public struct Failure: Error, CustomStringConvertible {
    /// A sentence that describes the error.
    public let description: String
  }

  /// All elements in document order.
  public private(set) var elements: [Element] = []

  private static let void: Set<String> = ["meta", "link", "input", "img", "br"]

  /// Parses a page.
  public init(_ bytes: some Sequence<UInt8>) throws(Failure) {
    guard let text = String(validating: Array(bytes), as: UTF8.self) else {
      throw Failure(description: "not UTF-8")
    }
    var rest = text.unicodeScalars[...]
    guard Self.take("<!DOCTYPE html>", &rest) else { throw Failure(description: "no document type") }
    var open: [Int] = []
    while let next = rest.first {
      guard next == "<" else {
        let run = rest.prefix { $0 != "<" }
        guard !run.contains(">") else { throw Failure(description: "a bare > in ‘\(String(run))’") }
        for index in open { elements[index].text.unicodeScalars.append(contentsOf: run) }
        rest = rest[run.endIndex...]
        continue
      }
      rest.removeFirst()
      if Self.take("/", &rest) {
        let name = String(rest.prefix { $0 != ">" })
        guard let index = open.popLast(), elements[index].name == name else {
          throw Failure(description: "‘</\(name)>’ closes nothing, or another element")
        }
        rest = rest.dropFirst(name.unicodeScalars.count + 1)
      } else {
        let (element, isClosed) = try Self.element(&rest, ancestors: open.map { elements[$0].name })
        elements.append(element)
        if !isClosed, !Self.void.contains(element.name) { open.append(elements.count - 1) }
      }
    }
    guard open.isEmpty else {
      throw Failure(description: "never closed: \(open.map { elements[$0].name })")
    }
  }

  private static func take(_ text: String, _ rest: inout Substring.UnicodeScalarView) -> Bool {
    guard rest.starts(with: text.unicodeScalars) else { return false }
    rest = rest.dropFirst(text.unicodeScalars.count)
    return true
  }

  private static func element(
    _ rest: inout Substring.UnicodeScalarView, ancestors: [String]
  ) throws(Failure) -> (Element, isClosed: Bool) {
    let name = word(&rest)
    guard !name.isEmpty else { throw Failure(description: "a bare < before ‘\(String(rest.prefix(40)))’") }
    var attributes: [String: String] = [:]
    while true {
      let hadSpace = take(" ", &rest)
      if take("/>", &rest) {
        return (Element(name: name, attributes: attributes, ancestors: ancestors), true)
      }
      if take(">", &rest) {
        return (Element(name: name, attributes: attributes, ancestors: ancestors), false)
      }
      let attribute = word(&rest)
      guard hadSpace, !attribute.isEmpty else {
        throw Failure(description: "‘<\(name)’ continues with ‘\(String(rest.prefix(40)))’")
      }
      var value = ""
      if take("=\"", &rest) {
        value = String(rest.prefix { $0 != "\"" })
        guard !value.unicodeScalars.contains("<") else {
          throw Failure(description: "‘\(attribute)’ of ‘\(name)’ has a <")
        }
        rest = rest.dropFirst(value.unicodeScalars.count + 1)
      }
      guard attributes.updateValue(value, forKey: attribute) == nil else {
        throw Failure(description: "‘\(name)’ has ‘\(attribute)’ twice")
      }
    }
  }

  private static func word(_ rest: inout Substring.UnicodeScalarView) -> String {
    let word = rest.prefix { scalar in
      switch scalar {
      case "a"..."z", "A"..."Z", "0"..."9", "-": true
      default: false
      }
    }
    rest = rest[word.endIndex...]
    return String(word)
  }
}
