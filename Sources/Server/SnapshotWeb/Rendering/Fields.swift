import Mustache

/// What a template knows by name: texts, numbers, truths, further fields and lists of them.
///
/// A value that is `nil` is there, and false: a template that asks for it does not find one of the same name further
/// out.
struct Fields: MustacheParent, ExpressibleByDictionaryLiteral, Sendable {
  private var values: [String: any Sendable] = [:]

  init(dictionaryLiteral elements: (String, (any Sendable)?)...) {
    for (name, value) in elements { values[name] = value ?? false }
  }

  subscript(name: String) -> (any Sendable)? {
    get { values[name] }
    set { values[name] = newValue ?? false }
  }

  func child(named name: String) -> Any? { values[name] }
}
