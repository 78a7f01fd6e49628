/// The state of parsing a JSON number (RFC 8259 §6).
struct JSONNumber: Equatable {
  private enum Part { case minus, zero, whole, point, fraction, exponent, sign, power }

  private var part: Part
  private let isLenient: Bool

  /// Starts with the first byte; `nil` if it is neither a minus sign nor a digit. If `isLenient`, leading zeros are
  /// allowed.
  init?(_ byte: UInt8, isLenient: Bool = false) {
    self.isLenient = isLenient
    switch byte {
    case UInt8(ascii: "-"): part = .minus
    case UInt8(ascii: "0"): part = isLenient ? .whole : .zero
    case UInt8(ascii: "1")...UInt8(ascii: "9"): part = .whole
    default: return nil
    }
  }

  /// Whether the bytes so far form a complete number.
  var isWhole: Bool {
    switch part {
    case .zero, .whole, .fraction, .power: true
    case .minus, .point, .exponent, .sign: false
    }
  }

  /// Appends the next byte. Returns `false` and leaves the state unchanged if the number cannot contain it.
  mutating func take(_ byte: UInt8) -> Bool {
    switch (part, byte) {
    case (.minus, UInt8(ascii: "0")): part = isLenient ? .whole : .zero
    case (.minus, UInt8(ascii: "1")...UInt8(ascii: "9")): part = .whole
    case (.whole, UInt8(ascii: "0")...UInt8(ascii: "9")): break
    case (.zero, UInt8(ascii: ".")), (.whole, UInt8(ascii: ".")): part = .point
    case (.point, UInt8(ascii: "0")...UInt8(ascii: "9")): part = .fraction
    case (.fraction, UInt8(ascii: "0")...UInt8(ascii: "9")): break
    case (.zero, UInt8(ascii: "e")), (.whole, UInt8(ascii: "e")), (.fraction, UInt8(ascii: "e")),
      (.zero, UInt8(ascii: "E")), (.whole, UInt8(ascii: "E")), (.fraction, UInt8(ascii: "E")):
      part = .exponent
    case (.exponent, UInt8(ascii: "+")), (.exponent, UInt8(ascii: "-")): part = .sign
    case (.exponent, UInt8(ascii: "0")...UInt8(ascii: "9")), (.sign, UInt8(ascii: "0")...UInt8(ascii: "9")),
      (.power, UInt8(ascii: "0")...UInt8(ascii: "9")):
      part = .power
    default: return false
    }
    return true
  }
}
