package import SnapshotFormat

extension JSONValue {
  /// A member of an object; `nil` if there is none.
  package subscript(key: String) -> JSONValue? {
    if case .object(let values) = self { values[key] } else { nil }
  }

  /// The sorted names of an object's members.
  package var keys: [String] { if case .object(let values) = self { values.keys.sorted() } else { [] } }
  /// The values of an array; `nil` if it is none.
  package var items: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
  /// The string; `nil` if it is none.
  package var text: String? { if case .string(let text) = self { text } else { nil } }

  /// Every text under `key`, at any depth.
  package func texts(under key: String) -> [String] {
    switch self {
    case .array(let values): values.flatMap { $0.texts(under: key) }
    case .object(let values):
      values.flatMap { name, value in
        (name == key ? value.text.map { [$0] } ?? [] : []) + value.texts(under: key)
      }
    default: []
    }
  }
}
