/// Bech32 (BIP 173) without its limit of 90 characters, as age encodes keys.
enum Bech32 {
  /// Why a text is not Bech32.
  enum Refusal: Error {
    case mixedCase, separator, character, checksum, padding
  }

  /// The text with `prefix` and `bytes`, in the case of the prefix, which must be all upper or all lower case.
  static func encode(_ bytes: some Collection<UInt8>, prefix: String) -> String {
    let lowercased = prefix.lowercased()
    var digits = regroup(bytes, from: 8, to: 5)
    let remainder = checksum(of: digits + [UInt8](repeating: 0, count: 6), prefix: lowercased) ^ 1
    for index in 0..<6 { digits.append(UInt8(truncatingIfNeeded: remainder >> UInt32(5 * (5 - index)) & 31)) }
    let text = lowercased + "1" + String(decoding: digits.map { alphabet[Int($0)] }, as: UTF8.self)
    return prefix == lowercased ? text : text.uppercased()
  }

  /// The prefix, in the case of the text, and the bytes.
  static func decode(_ text: String) throws(Refusal) -> (prefix: String, bytes: [UInt8]) {
    let lowercased = text.lowercased()
    guard text == lowercased || text == text.uppercased() else { throw .mixedCase }
    let characters = Array(lowercased.utf8)
    guard let separator = characters.lastIndex(of: UInt8(ascii: "1")), separator > 0,
      characters.count - separator > 6
    else { throw .separator }
    guard characters.allSatisfy({ (33...126).contains($0) }) else { throw .character }
    var digits: [UInt8] = []
    for character in characters[(separator + 1)...] {
      let digit = values[Int(character)]
      guard digit < 32 else { throw .character }
      digits.append(digit)
    }
    let prefix = String(decoding: characters[..<separator], as: UTF8.self)
    guard checksum(of: digits, prefix: prefix) == 1 else { throw .checksum }
    digits.removeLast(6)
    let count = digits.count * 5 / 8
    let bytes = regroup(digits, from: 5, to: 8)
    guard digits.count * 5 - count * 8 < 5, bytes.dropFirst(count).allSatisfy({ $0 == 0 }) else {
      throw .padding
    }
    return (text == lowercased ? prefix : prefix.uppercased(), Array(bytes.prefix(count)))
  }

  /// The bits of `groups` in groups of another size. The last one is filled with zeros.
  private static func regroup(_ groups: some Collection<UInt8>, from old: UInt32, to new: UInt32) -> [UInt8] {
    var (word, bits): (UInt32, UInt32) = (0, 0)
    var result: [UInt8] = []
    for group in groups {
      word = word << old | UInt32(group)
      bits += old
      while bits >= new {
        bits -= new
        result.append(UInt8(truncatingIfNeeded: word >> bits & (1 << new - 1)))
        word &= 1 << bits - 1
      }
    }
    if bits > 0 { result.append(UInt8(truncatingIfNeeded: word << (new - bits))) }
    return result
  }

  /// The remainder of the code's polynomial: 1 for a text with the right checksum.
  private static func checksum(of digits: [UInt8], prefix: String) -> UInt32 {
    var remainder: UInt32 = 1
    func add(_ digit: UInt8) {
      let top = remainder >> 25
      remainder = (remainder & 0x1FF_FFFF) << 5 ^ UInt32(digit)
      for (bit, generator) in generators.enumerated() where top >> UInt32(bit) & 1 == 1 {
        remainder ^= generator
      }
    }
    for byte in prefix.utf8 { add(byte >> 5) }
    add(0)
    for byte in prefix.utf8 { add(byte & 31) }
    for digit in digits { add(digit) }
    return remainder
  }

  private static let generators: [UInt32] = [
    0x3B6A_57B2, 0x2650_8E6D, 0x1EA1_19FA, 0x3D42_33DD, 0x2A14_62B3,
  ]
  private static let alphabet = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 32, count: 128)
    for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
    return values
  }()
}
