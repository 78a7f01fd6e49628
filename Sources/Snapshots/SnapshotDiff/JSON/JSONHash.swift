/// Hashes of JSON values, equal for values with the same meaning. The seed is random in each process, so a client
/// cannot construct different values with equal hashes.
enum JSONHash {
  /// The hash of an array, from the hashes of its elements.
  static func array(_ elements: [Int]) -> Int {
    var hasher = Hasher()
    hasher.combine(JSONDocument.Kind.array)
    hasher.combine(elements)
    return hasher.finalize()
  }

  /// The hash of an object, from the hashes of alternating keys and values. Does not depend on the order of members.
  static func object(_ members: [Int]) -> Int {
    var sum = 0
    for index in stride(from: 0, to: members.count - 1, by: 2) {
      var hasher = Hasher()
      hasher.combine(members[index])
      hasher.combine(members[index + 1])
      sum &+= hasher.finalize()
    }
    var hasher = Hasher()
    hasher.combine(JSONDocument.Kind.object)
    hasher.combine(members.count)
    hasher.combine(sum)
    return hasher.finalize()
  }

  /// The hash of `null` or a Boolean value.
  static func word(_ value: Bool?) -> Int {
    var hasher = Hasher()
    hasher.combine(value == nil ? JSONDocument.Kind.null : .boolean)
    hasher.combine(value)
    return hasher.finalize()
  }

  /// The hash of a string, from the bytes of its decoded characters.
  static func string(_ characters: ArraySlice<UInt8>) -> Int {
    var hasher = Hasher()
    hasher.combine(JSONDocument.Kind.string)
    combine(characters, into: &hasher)
    return hasher.finalize()
  }

  /// The hash of a number, from its exact value: `1`, `1.0` and `10e-1` have the same hash, and no digits are rounded.
  static func number(_ text: ArraySlice<UInt8>) -> Int {
    var digits: [UInt8] = []
    var exponent = 0
    var rest = text
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative { rest.removeFirst() }
    var isFraction = false
    while let byte = rest.first, byte != UInt8(ascii: "e"), byte != UInt8(ascii: "E") {
      rest.removeFirst()
      if byte == UInt8(ascii: ".") {
        isFraction = true
      } else {
        if !digits.isEmpty || byte != UInt8(ascii: "0") { digits.append(byte) }
        if isFraction { exponent -= 1 }
      }
    }
    var hasher = Hasher()
    hasher.combine(JSONDocument.Kind.number)
    if !rest.isEmpty, !digits.isEmpty {
      guard
        let written = Int(String(decoding: rest.dropFirst().drop { $0 == UInt8(ascii: "+") }, as: UTF8.self)),
        written.magnitude < 1 << 40
      else {
        // Exponents of this size do not occur in practice. Such numbers are compared as text.
        combine(text, into: &hasher)
        return hasher.finalize()
      }
      exponent += written
    }
    while digits.last == UInt8(ascii: "0") {
      digits.removeLast()
      exponent += 1
    }
    if !digits.isEmpty {
      hasher.combine(isNegative)
      hasher.combine(exponent)
    }
    combine(digits[...], into: &hasher)
    return hasher.finalize()
  }

  private static func combine(_ bytes: ArraySlice<UInt8>, into hasher: inout Hasher) {
    hasher.combine(bytes.count)
    unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
  }
}
