/// Any JSON value.
public enum JSONValue: Hashable, Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// The deepest nesting that is read: unknown values may not use up the stack.
  public static let maximumDepth = 64
}

extension JSONValue: Codable {
  /// Reads any JSON that is nested no deeper than ``maximumDepth`` below the top of its document.
  public init(from decoder: any Decoder) throws {
    guard decoder.codingPath.count <= Self.maximumDepth else {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: Array(decoder.codingPath.prefix(1)),
          debugDescription: "a value is nested deeper than \(Self.maximumDepth) levels"))
    }
    let container = try decoder.singleValueContainer()
    // Each reading answers with a mismatch where another is right, so they are tried in turn.
    if container.decodeNil() {
      self = .null
    } else if let value = try container.decodeIfMatching(Bool.self) {
      self = .boolean(value)
    } else if let value = try container.decodeIfMatching(Double.self) {
      // A number that is no Int64 fails in several ways, and is right as it is.
      self = (try? container.decode(Int64.self)).map(JSONValue.integer) ?? .number(value)
    } else if let value = try container.decodeIfMatching(String.self) {
      self = .string(value)
    } else if let keys = try? decoder.container(keyedBy: JSONKey.self) {
      self = .object(
        try keys.allKeys.reduce(into: [:]) {
          $0[$1.stringValue] = try keys.decode(JSONValue.self, forKey: $1)
        })
    } else {
      var items = try decoder.unkeyedContainer()
      var values: [JSONValue] = []
      while !items.isAtEnd { values.append(try items.decode(JSONValue.self)) }
      self = .array(values)
    }
  }

  /// Writes the value as it was read.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .boolean(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let values): try container.encode(values)
    case .object(let members): try container.encode(members)
    }
  }
}

/// A key of any name.
package struct JSONKey: CodingKey {
  package let stringValue: String
  package let intValue: Int? = nil

  package init(_ name: String) { stringValue = name }
  package init(stringValue: String) { self.stringValue = stringValue }
  package init?(intValue: Int) { nil }
}

extension SingleValueDecodingContainer {
  /// The value if it is a `type`; `nil` if it is something else.
  fileprivate func decodeIfMatching<Value: Decodable>(_ type: Value.Type) throws -> Value? {
    do {
      return try decode(type)
    } catch DecodingError.typeMismatch {
      return nil
    }
  }
}
