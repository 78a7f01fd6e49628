/// The header of a regular file in an archive of the format ustar (POSIX.1-1988), which every `tar` reads.
struct TarHeader: Sendable, Equatable {
  /// The length of a header, and the unit to which contents are padded with zeros.
  static let blockBytes = 512
  /// The most bytes of a name. Longer ones would be split, which no name in a backup needs.
  static let nameBytes = 100
  /// The first size that has no octal form in 11 digits, and is written as a binary number (GNU, POSIX.1-2001 star).
  private static let binarySize: Int64 = 1 << 33

  /// The relative path, with `/` between its parts.
  var name: String
  /// The number of bytes of the contents.
  var size: Int64
  /// The permissions.
  var mode: UInt16 = 0o600
  /// In seconds since 1970.
  var modified: Int64 = 0

  /// The number of bytes of the contents with their padding.
  var paddedSize: Int64 {
    let block = Int64(Self.blockBytes)
    return (size + block - 1) / block * block
  }

  /// The 512 bytes of the header; `nil` if the name is too long.
  var bytes: [UInt8]? {
    let name = Array(name.utf8)
    guard name.count <= Self.nameBytes else { return nil }
    var bytes = [UInt8](repeating: 0, count: Self.blockBytes)
    bytes.replaceSubrange(0..<name.count, with: name)
    bytes.replaceSubrange(100..<107, with: Self.octal(Int64(mode), digits: 7))
    bytes.replaceSubrange(108..<115, with: Self.octal(0, digits: 7))
    bytes.replaceSubrange(116..<123, with: Self.octal(0, digits: 7))
    if size < Self.binarySize {
      bytes.replaceSubrange(124..<135, with: Self.octal(size, digits: 11))
    } else {
      bytes[124] = 0x80
      for index in 0..<8 { bytes[128 + index] = UInt8(truncatingIfNeeded: size >> (8 * (7 - index))) }
    }
    bytes.replaceSubrange(136..<147, with: Self.octal(max(modified, 0), digits: 11))
    bytes[156] = UInt8(ascii: "0")
    bytes.replaceSubrange(257..<265, with: Array("ustar\u{0}00".utf8))
    bytes.replaceSubrange(148..<155, with: Self.octal(Self.sum(of: bytes), digits: 6) + [0])
    return bytes
  }

  init(name: String, size: Int64, mode: UInt16 = 0o600, modified: Int64 = 0) {
    self.name = name
    self.size = size
    self.mode = mode
    self.modified = modified
  }

  /// Parses a header; `nil` if it is damaged, or not that of a regular file with a short name.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.blockBytes, bytes[156] == UInt8(ascii: "0"), bytes[345] == 0,
      Self.number(bytes[148..<156]) == Self.sum(of: bytes),
      let size = bytes[124] == 0x80 ? Self.binary(bytes[128..<136]) : Self.number(bytes[124..<136]),
      let mode = Self.number(bytes[100..<108]), let modified = Self.number(bytes[136..<148]), size >= 0,
      size <= .max - Int64(Self.blockBytes),
      let name = String(validating: bytes[..<Self.nameBytes].prefix { $0 != 0 }, as: UTF8.self)
    else { return nil }
    self.init(name: name, size: size, mode: UInt16(truncatingIfNeeded: mode), modified: modified)
  }

  /// The sum of all bytes, with spaces in place of the field that contains it.
  private static func sum(of bytes: [UInt8]) -> Int64 {
    var sum = bytes.reduce(Int64(0)) { $0 + Int64($1) }
    for byte in bytes[148..<156] { sum += Int64(UInt8(ascii: " ")) - Int64(byte) }
    return sum
  }

  private static func octal(_ value: Int64, digits: Int) -> [UInt8] {
    let text = Array(String(value, radix: 8).utf8)
    return [UInt8](repeating: UInt8(ascii: "0"), count: max(0, digits - text.count)) + text
  }

  /// Parses an octal number that ends with a zero byte or a space, or with the field.
  private static func number(_ field: ArraySlice<UInt8>) -> Int64? {
    let digits = field.prefix { $0 != 0 && $0 != UInt8(ascii: " ") }
    return Int64(String(decoding: digits, as: UTF8.self), radix: 8)
  }

  private static func binary(_ field: ArraySlice<UInt8>) -> Int64 {
    field.reduce(0) { $0 << 8 | Int64($1) }
  }
}
