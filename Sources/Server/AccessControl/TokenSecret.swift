import Crypto
import Foundation

/// A token as its holder has it: `snapshot_`, its id, `_`, and 256 random bits.
///
/// It never shows itself in print, in a dump or in a mirror.
struct TokenSecret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// How a token's id may look: 12 hexadecimal digits.
  static let idLength = 12
  private static let prefix = "snapshot_"
  /// 32 bytes in Base64 for URLs.
  private static let randomLength = 43

  /// Names the token.
  let id: String
  /// All of it, for its holder alone.
  let text: String

  /// A new one.
  init() {
    var generator = SystemRandomNumberGenerator()
    func random(_ count: Int) -> [UInt8] { (0..<count).map { _ in generator.next() } }
    id = random(Self.idLength / 2).map { byte in
      let text = String(byte, radix: 16)
      return text.count == 1 ? "0" + text : text
    }.joined()
    text = Self.prefix + id + "_" + Base64URL.encode(random(32))
  }

  /// Reads what a request brings; `nil` for what can't be a token.
  init?(_ text: String) {
    guard text.utf8.count == Self.prefix.utf8.count + Self.idLength + 1 + Self.randomLength,
      text.hasPrefix(Self.prefix)
    else { return nil }
    let id = text.dropFirst(Self.prefix.count).prefix(Self.idLength)
    guard Self.isID(String(id)), text.dropFirst(Self.prefix.count + Self.idLength).first == "_" else {
      return nil
    }
    self.id = String(id)
    self.text = text
  }

  /// Whether `text` may be the id of a token.
  static func isID(_ text: String) -> Bool {
    text.utf8.count == idLength
      && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  /// What is kept of it.
  func code(with key: SymmetricKey) -> Data {
    Data(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key))
  }

  /// Whether it is the token of which `code` was kept; takes the same time whatever differs.
  func matches(_ code: Data, with key: SymmetricKey) -> Bool {
    HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Data(text.utf8), using: key)
  }

  var description: String { "(token \(id))" }
  var debugDescription: String { description }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
