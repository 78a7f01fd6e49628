/// The type of a JSON value.
package enum ContentType: String, Sendable, Hashable, CaseIterable {
  case string, number, boolean, null, object, array
}

/// A condition for a key or a value. It is never an error: a value of another type does not match.
enum ContentTest: Sendable, Hashable {
  /// An order of two values.
  enum Order: String, Sendable, Hashable, CaseIterable {
    // The longer ones first, because the others are their beginnings.
    case atMost = "<="
    case atLeast = ">="
    case less = "<"
    case greater = ">"
    case equal = "="
  }

  /// Texts that contain a text.
  case contains(SearchPattern)
  /// Keys and strings that are a text.
  case isText([UInt8])
  /// Texts that match as a whole.
  case wildcard(WildcardPattern)
  /// Numbers with a value, and texts that contain it.
  case mentions(DecimalNumber, SearchPattern)
  /// Numbers with a value, and strings that are such a number.
  case number(DecimalNumber)
  /// Numbers in an order; strings that are a number too, except with ``Order/equal``.
  case numbers(Order, DecimalNumber)
  /// Strings in an order of their characters.
  case strings(Order, [UInt8])
  /// `true`, `false` or `null`.
  case literal([UInt8])
  /// Values of a type.
  case type(ContentType)
  /// All values.
  case any

  /// The match in a key; `nil` if there is none.
  func match(inKey key: ArraySlice<UInt8>) -> TextMatch? {
    switch self {
    case .contains(let pattern), .mentions(_, let pattern): pattern.match(in: key)
    case .isText(let text): text.elementsEqual(key) ? TextMatch(all: key) : nil
    case .wildcard(let pattern): pattern.matches(key) ? TextMatch(all: key) : nil
    case .any: TextMatch(all: key)
    default: nil
    }
  }

  /// The match in a value that is no container, from its text: that of a string, a number as written, or a word. `nil` if
  /// there is none.
  func match(_ type: ContentType, _ text: ArraySlice<UInt8>) -> TextMatch? {
    switch self {
    case .contains(let pattern): return pattern.match(in: text)
    case .mentions(let number, let pattern):
      if let match = pattern.match(in: text) { return match }
      return type == .number && number.isValue(of: text) ? TextMatch(all: text) : nil
    default: return holds(type, text) ? TextMatch(all: text) : nil
    }
  }

  private func holds(_ type: ContentType, _ text: ArraySlice<UInt8>) -> Bool {
    switch self {
    case .contains, .mentions: return false
    case .isText(let wanted): return type == .string && wanted.elementsEqual(text)
    case .wildcard(let pattern): return pattern.matches(text)
    case .number(let number): return (type == .number || type == .string) && number.isValue(of: text)
    case .numbers(.equal, let number): return type == .number && number.isValue(of: text)
    case .numbers(let order, let number):
      guard type == .number || type == .string, let value = DecimalNumber(text) else { return false }
      return order.holds(value, number)
    case .strings(let order, let wanted):
      return type == .string && order.holds(ComparedText(text), ComparedText(wanted[...]))
    case .literal(let word): return (type == .boolean || type == .null) && word.elementsEqual(text)
    case .type(let wanted): return type == wanted
    case .any: return true
    }
  }

  /// Whether an object or an array matches.
  func holds(isObject: Bool) -> Bool {
    switch self {
    case .type(let type): type == (isObject ? .object : .array)
    case .any: true
    default: false
    }
  }

  /// A text that every match contains, except for case and escape sequences; `nil` if there is none.
  var literal: String? {
    switch self {
    case .contains(let pattern): pattern.text
    case .isText(let text): text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
    case .wildcard(let pattern): pattern.longestPart
    case .literal(let word): String(decoding: word, as: UTF8.self)
    default: nil
    }
  }

  /// What is found in lines of text.
  var inText: TextPattern? {
    switch self {
    case .contains(let pattern), .mentions(_, let pattern): .words(pattern)
    case .isText(let text):
      text.isEmpty ? nil : .words(SearchPattern(String(decoding: text, as: UTF8.self), ignoresCase: false))
    case .wildcard(let pattern): pattern.matchesAll ? nil : .wildcards(pattern)
    default: nil
    }
  }
}

extension ContentTest.Order {
  func holds<Value: Comparable>(_ value: Value, _ other: Value) -> Bool {
    switch self {
    case .less: value < other
    case .atMost: value <= other
    case .greater: value > other
    case .atLeast: value >= other
    case .equal: value == other
    }
  }
}

/// A text in UTF-8, in the order of its characters.
private struct ComparedText: Comparable {
  let bytes: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  static func < (left: Self, right: Self) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
}
