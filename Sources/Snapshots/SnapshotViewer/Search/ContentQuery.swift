import JSONText

/// What to find in the contents of files: one grammar for the page of a file, for the search in all contents, and for the
/// command.
///
/// | query | finds |
/// | --- | --- |
/// | `paid` | keys and values that contain the text; case is ignored |
/// | `-99.9` | numbers with this value, such as `-99.90` and `-9.99e1`, and what contains the text |
/// | `"Paid"` | keys and strings that are exactly this text; escape sequences are those of JSON |
/// | `img_*.png` | keys and values that match as a whole; `*` stands for any characters, case is ignored |
/// | `key:token`, `value:paid` | one of the above, only in keys or only in values |
/// | `type:null` | values of this type: `string`, `number`, `boolean`, `null`, `object` or `array` |
/// | `width:-1` | the condition `-1`, at the key `width`; see below |
/// | `.items[0].name`, `/items/0/name` | the value at a path, in the syntax of jq or as a JSON Pointer |
/// | `.articles[*].media[*].width` | values at a path: `[*]` stands for any index, `.*` for any key |
/// | `$..width` | values at any depth; `$` may be left out if a key follows |
/// | `$..width:null` | a path and a condition |
///
/// A key before a colon consists of letters, digits, `_`, `-`, `.`, `$`, `@` and `*` and does not begin with a digit, or it
/// is in quotation marks. Without them, case is ignored and `*` stands for any characters. The elements of an array at
/// the key are values at the key too. Keys in paths are exact; `["a b"]` is one with other characters.
///
/// | condition | is true for |
/// | --- | --- |
/// | `<0`, `<=0`, `>0`, `>=0` | numbers, and strings that are a number, in this order; with a text, strings in this order of their characters, such as dates in RFC 3339 format |
/// | `=1` | numbers with this value, and no strings |
/// | `-1` | numbers with this value, and strings that are a number with it |
/// | `null`, `true`, `false` | this value, and not the string |
/// | `"Paid"`, `img_*`, `paid` | strings and numbers, as above; `*` alone for every value |
/// | `type:number` | values of this type |
///
/// A condition is never an error for a value: one of another type does not match. Numbers are compared exactly. A query
/// that can also be a text, such as `localhost:8080` or `/news/feed`, finds the strings that contain it too. In JSON Lines,
/// a path is one in each document, or begins with the index of the document.
///
/// In a file of text, each line is a value: words, numbers, wildcards and texts in quotation marks are found anywhere in it,
/// queries with a key or a path as they are written, and types and comparisons are not.
package struct ContentQuery: Sendable, Hashable {
  /// Limits of a query.
  package struct Limits: Sendable, Hashable {
    /// The maximum number of bytes.
    package var bytes = 1024
    /// The maximum number of steps of a path.
    package var steps: Int { ContentPath.limit }
    /// The maximum number of asterisks in a text.
    package var wildcards: Int { WildcardPattern.limit }

    /// Creates limits with the default values.
    package init() {}
  }

  /// Which texts are searched.
  package enum Field: String, Sendable, Hashable {
    case key, value
  }

  /// Where values are.
  enum Place: Sendable, Hashable {
    /// Anywhere, and in keys and values or only in one of them.
    case anywhere(Field?)
    /// At a key.
    case key(ContentTest)
    /// At a path.
    case path(ContentPath)
  }

  /// The query as it was entered.
  package let source: String
  let place: Place
  /// What is true for the values; `nil` for all.
  let test: ContentTest?
  /// The query as a text, if it can be one too.
  let asText: SearchPattern?

  /// Whether the query can stand for only one value of a document.
  package var isExactPath: Bool {
    if case .path(let path) = place { path.isExact && test == nil } else { false }
  }
}

// MARK: - Texts that must occur

extension ContentQuery {
  /// A text that every match contains, in its key or its value, except for case and escape sequences; `nil` if there is
  /// none.
  var matchLiteral: String? {
    if let literal = test?.literal { return literal }
    if case .path(let path) = place { return path.lastKey }
    return nil
  }

  /// A text that every JSON document with a match contains, except for case and escape sequences; `nil` if there is none.
  var documentLiteral: String? {
    if let literal = matchLiteral { return literal }
    switch place {
    case .anywhere: return nil
    case .key(let key): return key.literal
    case .path(let path): return path.longestKey
    }
  }

  /// What is found in lines of text; `nil` if nothing is.
  package var inText: TextPattern? {
    if let asText { return .words(asText) }
    switch place {
    case .anywhere(.key), .key, .path: return nil
    case .anywhere: return test?.inText
    }
  }
}

/// What to find in lines of text.
package enum TextPattern: Sendable, Hashable {
  /// A text.
  case words(SearchPattern)
  /// A text with wildcards.
  case wildcards(WildcardPattern)

  /// The text `text`, which is not empty. Case is ignored.
  package init(_ text: String) { self = .words(SearchPattern(text)) }

  /// The pattern for a query that a user entered for a text: one that is malformed is found as it is written. `nil` if
  /// lines can't match.
  package static func of(_ query: String) -> TextPattern? {
    do { return try ContentQuery(query).inText } catch { return query.isEmpty ? nil : TextPattern(query) }
  }

  /// The first match in a line.
  func match(in line: ArraySlice<UInt8>) -> TextMatch? {
    switch self {
    case .words(let pattern): pattern.match(in: line)
    case .wildcards(let pattern): pattern.match(in: line)
    }
  }

  /// A text that every match contains, except for case; `nil` if there is none.
  var literal: String? {
    switch self {
    case .words(let pattern): pattern.text
    case .wildcards(let pattern): pattern.longestPart
    }
  }
}
