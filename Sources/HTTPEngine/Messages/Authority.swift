/// `host[:port]` (RFC 9110 §7.2), never empty and without user information.
enum Authority {
  static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var index = 0
    if bytes.first == UInt8(ascii: "[") {
      index = 1
      while index < bytes.count, CharacterClass.ipv6.contains(bytes[index]) { index += 1 }
      guard index > 2, index < bytes.count, bytes[index] == UInt8(ascii: "]") else { return false }
      index += 1
    } else {
      while index < bytes.count, CharacterClass.host.contains(bytes[index]) { index += 1 }
      guard index > 0 else { return false }
    }
    if index == bytes.count { return true }
    guard bytes[index] == .colon, bytes.count - index <= 6 else { return false }
    var port = 0
    for byte in bytes[(index + 1)...] {
      guard CharacterClass.digit.contains(byte) else { return false }
      port = port * 10 + Int(byte - 0x30)
    }
    return port <= 65535
  }
}
