public import Foundation

/// A JSON value, for migrations. It represents the contents of a file independently of the app's current types.
///
/// Most values can be written as literals: `["amount": 12, "tags": []]`.
public enum JSONTree: Sendable, Hashable {
  /// `null`
  case null
  /// `true` or `false`
  case bool(Bool)
  /// An integer that fits into an `Int`.
  case integer(Int)
  /// Another number that a `Double` represents exactly as written.
  case number(Double)
  /// A number with more digits than a `Double` can represent.
  case decimal(Decimal)
  /// A string.
  case string(String)
  /// An array.
  case array([JSONTree])
  /// An object.
  case object([String: JSONTree])

  /// A property of an object; `nil` if the property does not exist or this value is not an object. Setting `nil`
  /// removes the property. Setting a property of another kind of value replaces that value by an object.
  public subscript(property: String) -> JSONTree? {
    get {
      guard case .object(let properties) = self else { return nil }
      return properties[property]
    }
    set {
      var properties: [String: JSONTree] = [:]
      if case .object(let old) = self { properties = old }
      properties[property] = newValue
      self = .object(properties)
    }
  }

  /// The string, if this value is a string.
  public var string: String? {
    guard case .string(let value) = self else { return nil }
    return value
  }

  /// The integer, if this value is an integer.
  public var integer: Int? {
    guard case .integer(let value) = self else { return nil }
    return value
  }

  /// The elements, if this value is an array.
  public var array: [JSONTree]? {
    guard case .array(let value) = self else { return nil }
    return value
  }

  /// Why a migration step can't be applied to a value.
  struct Mismatch: Error, CustomStringConvertible {
    let reason: String
    var description: String { reason }
  }

  func property(_ name: String) throws(Mismatch) -> JSONTree? {
    guard case .object(let properties) = self else { throw Mismatch(reason: "\(kind) is not an object") }
    return properties[name]
  }

  var kind: String {
    switch self {
    case .null: "null"
    case .bool: "a Boolean"
    case .integer, .number, .decimal: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

extension JSONTree: Codable {
  /// Decodes any JSON value. Numbers keep all their digits.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    // The failed attempts only determine the kind of the value.
    func look<Value: Decodable>(_ type: Value.Type) -> Value? { try? container.decode(type) }
    if container.decodeNil() {
      self = .null
    } else if let value = look(String.self) {
      self = .string(value)
    } else if let value = look(Bool.self) {
      self = .bool(value)
    } else if let value = look(Int.self) {
      self = .integer(value)
    } else if let value = look(Decimal.self) {
      // If the double has the same decimal digits, it represents the number exactly.
      let double = look(Double.self)
      self = double.flatMap { Decimal(string: "\($0)") == value ? .number($0) : nil } ?? .decimal(value)
    } else if let value = look(Double.self) {
      self = .number(value)
    } else if let value = look([JSONTree].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONTree].self))
    }
  }

  /// Encodes the value as JSON.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .decimal(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}

extension JSONTree: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  /// `null`
  public init(nilLiteral: ()) { self = .null }
  /// `true` or `false`
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// An integer.
  public init(integerLiteral value: Int) { self = .integer(value) }
  /// A number.
  public init(floatLiteral value: Double) { self = .number(value) }
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// An array.
  public init(arrayLiteral elements: JSONTree...) { self = .array(elements) }
  /// An object. If a property occurs twice, the last value is used.
  public init(dictionaryLiteral properties: (String, JSONTree)...) {
    self = .object(Dictionary(properties) { $1 })
  }
}
