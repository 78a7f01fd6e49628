import SystemIO

/// Validates `uri-host [":" port]` (RFC 9110 §4.2.3, §7.2) in `Host` and in request targets.
///
/// Stricter than RFC 3986 §3.2.2: a host must not be empty; a name has no escapes, delimiters or empty labels (a dot at
/// its end is allowed); and a port must be a valid port number. User information is rejected.
enum Authority {
  static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let hostEnd = bytes.first == UInt8(ascii: "[") ? literalEnd(bytes) : nameEnd(bytes) else {
      return false
    }
    return hostEnd == bytes.count || isPort(bytes, from: hostEnd)
  }

  /// Returns the end of the name or IPv4 address.
  private static func nameEnd(_ bytes: UnsafeRawBufferPointer) -> Int? {
    var index = 0
    var labelStart = 0
    while index < bytes.count, CharacterClass.host.contains(bytes[index]) {
      if bytes[index] == UInt8(ascii: ".") {
        guard index > labelStart else { return nil }
        labelStart = index + 1
      }
      index += 1
    }
    return index > 0 ? index : nil
  }

  /// Returns the end of `[address]`.
  private static func literalEnd(_ bytes: UnsafeRawBufferPointer) -> Int? {
    guard let close = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
    let literal = UnsafeRawBufferPointer(rebasing: bytes[1..<close])
    return isIPv6(literal) || isIPvFuture(literal) ? close + 1 : nil
  }

  private static func isIPv6(_ literal: UnsafeRawBufferPointer) -> Bool {
    guard literal.contains(.colon), literal.allSatisfy(CharacterClass.ipv6.contains) else { return false }
    return IPAddress(String(decoding: literal, as: UTF8.self)) != nil
  }

  /// `"v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" )`
  private static func isIPvFuture(_ literal: UnsafeRawBufferPointer) -> Bool {
    guard let first = literal.first, first | 0x20 == UInt8(ascii: "v"),
      let dot = literal.firstIndex(of: UInt8(ascii: ".")), dot > 1, dot + 1 < literal.count
    else { return false }
    return literal[1..<dot].allSatisfy(CharacterClass.hexDigit.contains)
      && literal[(dot + 1)...].allSatisfy {
        CharacterClass.path.contains($0) && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "@")
      }
  }

  /// Validates `":" port`. The port can be empty and is at most 65535.
  private static func isPort(_ bytes: UnsafeRawBufferPointer, from colon: Int) -> Bool {
    guard bytes[colon] == .colon, bytes.count - colon <= 6 else { return false }
    var port = 0
    for byte in bytes[(colon + 1)...] {
      guard CharacterClass.digit.contains(byte) else { return false }
      port = port * 10 + Int(byte - 0x30)
    }
    return port <= 65535
  }
}
