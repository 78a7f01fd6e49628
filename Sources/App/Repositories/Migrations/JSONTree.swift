public import Foundation

/// JSON as a value, for migrations: what a file holds, whatever the types of today.
///
/// Literals do for most: `["amount": 12, "tags": []]`.
public enum JSONTree: Sendable, Hashable {
  /// `null`
  case null
  /// `true` or `false`
  case bool(Bool)
  /// A whole number that an `Int` holds.
  case integer(Int)
  /// Another number that a `Double` holds exactly as it is written.
  case number(Double)
  /// A number with more digits than a `Double` has.
  case decimal(Decimal)
  /// A string.
  case string(String)
  /// An array.
  case array([JSONTree])
  /// An object.
  case object([String: JSONTree])

  /// A property of an object; `nil` where there is none, or where this is no object. Setting `nil` removes it; setting
  /// a property of something that is no object makes it one.
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

  /// The string, where this is one.
  public var string: String? {
    guard case .string(let value) = self else { return nil }
    return value
  }

  /// The whole number, where this is one.
  public var integer: Int? {
    guard case .integer(let value) = self else { return nil }
    return value
  }

  /// The elements, where this is an array.
  public var array: [JSONTree]? {
    guard case .array(let value) = self else { return nil }
    return value
  }

  /// Why a step does not fit what it finds.
  struct Mismatch: Error, CustomStringConvertible {
    let reason: String
    var description: String { reason }
  }

  func property(_ name: String) throws(Mismatch) -> JSONTree? {
    guard case .object(let properties) = self else { throw Mismatch(reason: "\(kind) is no object") }
    return properties[name]
  }

  var kind: String {
    switch self {
    case .null: "null"
    case .bool: "a truth value"
    case .integer, .number, .decimal: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

extension JSONTree: Codable {
  /// Reads any JSON; no digit of a number is lost.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    // Each look but the last only asks of what kind the value is.
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
      // Where a double is written with the same digits, it is the same number.
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

  /// Writes the JSON.
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
  /// A truth value.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// A whole number.
  public init(integerLiteral value: Int) { self = .integer(value) }
  /// A number.
  public init(floatLiteral value: Double) { self = .number(value) }
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// An array.
  public init(arrayLiteral elements: JSONTree...) { self = .array(elements) }
  /// An object; of a property that stands there twice the last one counts.
  public init(dictionaryLiteral properties: (String, JSONTree)...) {
    self = .object(Dictionary(properties) { $1 })
  }
}
