/// A decimal number with any number of digits, which is compared exactly.
struct DecimalNumber: Sendable, Hashable, Comparable {
  /// The largest absolute value of an exponent. Larger ones are replaced by it.
  private static let largestExponent = 1_000_000_000

  private let isNegative: Bool
  /// The digits without zeros at the beginning and at the end; none for zero.
  private let digits: [UInt8]
  /// The number of digits before the decimal point; negative if zeros follow the point.
  private let exponent: Int

  /// Reads a number as JSON writes it (RFC 8259 §6); `nil` if `text` is none.
  init?(_ text: ArraySlice<UInt8>) {
    var rest = text
    func digits(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
      let digits = rest.prefix { (0x30...0x39).contains($0) }
      rest = rest[digits.endIndex...]
      return digits
    }
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative { rest.removeFirst() }
    let whole = digits(&rest)
    guard !whole.isEmpty, whole.count == 1 || whole.first != UInt8(ascii: "0") else { return nil }
    var fraction = rest[rest.startIndex..<rest.startIndex]
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      fraction = digits(&rest)
      guard !fraction.isEmpty else { return nil }
    }
    var shift = 0
    if let mark = rest.first, mark | 0x20 == UInt8(ascii: "e") {
      rest.removeFirst()
      let isDown = rest.first == UInt8(ascii: "-")
      if isDown || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
      let power = digits(&rest)
      guard !power.isEmpty else { return nil }
      for digit in power { shift = min(Self.largestExponent, shift * 10 + Int(digit - 0x30)) }
      if isDown { shift = -shift }
    }
    guard rest.isEmpty else { return nil }
    let all = whole + fraction
    let significant = all.drop { $0 == 0x30 }
    self.digits = significant.reversed().drop { $0 == 0x30 }.reversed()
    self.isNegative = isNegative && !self.digits.isEmpty
    exponent = self.digits.isEmpty ? 0 : whole.count - (all.count - significant.count) + shift
  }

  /// Whether `text` is a number with this value. Faster than reading it, because most numbers begin with another digit.
  func isValue(of text: ArraySlice<UInt8>) -> Bool {
    let first = text.first { (0x31...0x39).contains($0) }
    guard digits.first == nil || digits.first == first else { return false }
    return DecimalNumber(text) == self
  }

  static func < (left: Self, right: Self) -> Bool {
    if left.isNegative != right.isNegative { return left.isNegative }
    return left.isNegative ? right.isLess(than: left) : left.isLess(than: right)
  }

  /// Compares the absolute values.
  private func isLess(than other: Self) -> Bool {
    if digits.isEmpty || other.digits.isEmpty { return digits.isEmpty && !other.digits.isEmpty }
    if exponent != other.exponent { return exponent < other.exponent }
    return digits.lexicographicallyPrecedes(other.digits)
  }
}
