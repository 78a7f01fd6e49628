/// Prepares the text of a URL in an archive for Foundation, which otherwise encodes escapes again if any character is not
/// allowed in a URL.
enum ArchivedURL {
  private static let allowed = Set(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/?#@!$&'()*+,;=".utf8)

  /// Percent-encodes what a URL can't contain after its host. Escapes stay as they are.
  static func encode(_ text: String) -> String {
    let bytes = Array(text.utf8)
    var index = hostEnd(bytes)
    var encoded = Array(bytes[..<index])
    while index < bytes.count {
      let byte = bytes[index]
      if allowed.contains(byte) || byte == UInt8(ascii: "%") && isEscape(bytes, index) {
        encoded.append(byte)
      } else {
        encoded += "%\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))".utf8
      }
      index += 1
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// The end of the scheme and the host, which can be an IPv6 address in brackets; 0 for a relative URL.
  private static func hostEnd(_ bytes: [UInt8]) -> Int {
    let mark = Array("://".utf8)
    let start = bytes.indices.first { bytes[$0...].starts(with: mark) || "/?#".utf8.contains(bytes[$0]) }
    guard let start, bytes[start...].starts(with: mark) else { return 0 }
    return bytes[(start + mark.count)...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.count
  }

  private static func isEscape(_ bytes: [UInt8], _ index: Int) -> Bool {
    index + 2 < bytes.count
      && bytes[(index + 1)...(index + 2)].allSatisfy { byte in
        0x30...0x39 ~= byte || 0x41...0x46 ~= byte & 0xDF
      }
  }
}
