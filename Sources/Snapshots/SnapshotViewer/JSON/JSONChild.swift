package import JSONText

/// A value of a document as a page shows it.
package struct JSONChild: Sendable {
  /// A value, or the beginning of one that is long.
  package enum Value: Sendable, Hashable {
    case object(JSONPreview)
    case array(JSONPreview)
    /// A decoded string, or its beginning.
    case string(String, isCut: Bool)
    /// A number as written, or its beginning.
    case number(String, isCut: Bool)
    /// `true`, `false` or `null`.
    case literal(String)
  }

  /// The place of the value.
  package let place: JSONPlace
  /// The key, if the value is a member of an object. Only its beginning if it is very long.
  package let key: String?
  /// Whether ``key`` is only the beginning of the key. Such a value has no path.
  package let isKeyCut: Bool
  /// Whether another member of the object has the same key. Paths find only the first one.
  package internal(set) var isDuplicate = false
  /// The value.
  package let value: Value
  /// The type of a value in a property list, if JSON does not have it.
  package internal(set) var type: PropertyListType?
}

/// The place of a value in a document.
package struct JSONPlace: Sendable, Hashable {
  /// The path to the value.
  package let path: JSONPath
  /// The value's first line. For a member of an object, that of its key.
  package let line: Int
  /// The value's index in its container; 0 for the whole document.
  package let index: Int
  /// The offset of the value. For all documents of JSON Lines it is -1.
  let offset: Int

  /// Whether the place contains all documents of JSON Lines.
  var isSequence: Bool { offset < 0 }
}

/// The beginning of an object or an array.
package struct JSONPreview: Sendable, Hashable {
  /// A child.
  package struct Item: Sendable, Hashable {
    /// The kinds of values, by which they are coloured.
    package enum Kind: String, Sendable, Hashable {
      case string, number, literal, container
    }

    /// The beginning of the key, if the child is a member of an object.
    package let key: String?
    /// The decoded string, the number or the word, or its beginning; `{…}`, `[…]`, `{}` or `[]` for a container.
    package let text: String
    /// The kind of value.
    package let kind: Kind
    /// Whether ``text`` is only the beginning.
    package let isCut: Bool
  }

  /// The first children.
  package internal(set) var items: [Item] = []
  /// The number of children.
  package internal(set) var count = 0
  /// The number of lines of the container, when every value has a line of its own.
  package internal(set) var lines = 1
  /// Whether ``items`` are all children, and all are shown completely, so that one line shows the whole container.
  package internal(set) var isComplete = true
}

extension JSONPreview.Item {
  /// The item for the value whose first token was read last.
  init(_ key: String?, _ token: JSONTokenizer.Token, _ reader: JSONReader, limit: Int) {
    self.key = key
    switch token {
    case .string, .number:
      let kept = reader.tokenizer.text.prefix(limit)
      text = String(wholeCharactersOf: kept)
      isCut = reader.tokenizer.textLength > kept.count
      kind = token == .string ? .string : .number
    case .boolean(let value): (text, kind, isCut) = (value ? "true" : "false", .literal, false)
    case .beginObject: (text, kind, isCut) = ("{…}", .container, false)
    case .beginArray: (text, kind, isCut) = ("[…]", .container, false)
    case .null, .key, .endObject, .endArray: (text, kind, isCut) = ("null", .literal, false)
    }
  }

  /// The item for a container that turned out to be empty.
  var emptied: Self { Self(key: key, text: text == "{…}" ? "{}" : "[]", kind: kind, isCut: false) }
}

extension JSONChild.Value {
  /// The value as an item of a preview.
  func item(limit: Int) -> JSONPreview.Item {
    switch self {
    case .object(let preview): .init(container: preview.count == 0 ? "{}" : "{…}")
    case .array(let preview): .init(container: preview.count == 0 ? "[]" : "[…]")
    case .string(let text, let isCut): .init(text, .string, isCut: isCut, limit)
    case .number(let text, let isCut): .init(text, .number, isCut: isCut, limit)
    case .literal(let text): .init(text, .literal, isCut: false, limit)
    }
  }
}

extension JSONPreview.Item {
  fileprivate init(container text: String) { self.init(key: nil, text: text, kind: .container, isCut: false) }

  fileprivate init(_ text: String, _ kind: Kind, isCut: Bool, _ limit: Int) {
    let kept = String(wholeCharactersOf: Array(text.utf8.prefix(limit))[...])
    self.init(key: nil, text: kept, kind: kind, isCut: isCut || kept != text)
  }
}
