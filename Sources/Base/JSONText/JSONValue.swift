/// Any JSON value.
public enum JSONValue: Hashable, Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// The maximum nesting depth when decoding, so that unknown values cannot overflow the stack.
  public static let maximumDepth = 64
}

extension JSONValue: Codable {
  /// Decodes any JSON that is nested at most ``maximumDepth`` levels below the top of its document.
  public init(from decoder: any Decoder) throws {
    guard decoder.codingPath.count <= Self.maximumDepth else {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: Array(decoder.codingPath.prefix(1)),
          debugDescription: "a value is nested deeper than \(Self.maximumDepth) levels"))
    }
    let container = try decoder.singleValueContainer()
    // The type is not known in advance, so each type is tried in turn. A wrong type is reported as a mismatch.
    if container.decodeNil() {
      self = .null
    } else if let value = try container.decodeIfMatching(Bool.self) {
      self = .boolean(value)
    } else if let value = try container.decodeIfMatching(Double.self) {
      // Decoding a number that does not fit into an Int64 fails with various errors. It is then kept as a Double.
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

  /// Encodes the value as plain JSON.
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

/// A coding key with any name.
package struct JSONKey: CodingKey {
  package let stringValue: String
  package let intValue: Int? = nil

  package init(_ name: String) { stringValue = name }
  package init(stringValue: String) { self.stringValue = stringValue }
  package init?(intValue: Int) { nil }
}

extension SingleValueDecodingContainer {
  /// The value if it has this type; `nil` if it has another type.
  fileprivate func decodeIfMatching<Value: Decodable>(_ type: Value.Type) throws -> Value? {
    do {
      return try decode(type)
    } catch DecodingError.typeMismatch {
      return nil
    }
  }
}
