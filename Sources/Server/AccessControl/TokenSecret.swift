import Crypto
import Foundation

/// A token as its holder knows it: `snapshot_`, its id, `_`, and 256 random bits.
///
/// The description, dumps and mirrors do not contain the secret.
struct TokenSecret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The length of a token's id, in hexadecimal digits.
  static let idLength = 12
  private static let prefix = "snapshot_"
  /// The length of 32 bytes in Base64 for URLs.
  private static let randomLength = 43

  /// The token's id.
  let id: String
  /// The complete secret. Only the token's holder must see it.
  let text: String

  /// Creates a new random secret.
  init() {
    var generator = SystemRandomNumberGenerator()
    func random(_ count: Int) -> [UInt8] { (0..<count).map { _ in generator.next() } }
    id = random(Self.idLength / 2).map { byte in
      let text = String(byte, radix: 16)
      return text.count == 1 ? "0" + text : text
    }.joined()
    text = Self.prefix + id + "_" + Base64URL.encode(random(32))
  }

  /// Reads a token from a request. Returns `nil` if it does not have the right format.
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

  /// Whether `text` has the format of a token's id.
  static func isID(_ text: String) -> Bool {
    text.utf8.count == idLength
      && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  /// Returns the keyed hash of the secret, which is stored.
  func code(with key: SymmetricKey) -> Data {
    Data(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key))
  }

  /// Whether `code` is the keyed hash of this secret. Compares in constant time.
  func matches(_ code: Data, with key: SymmetricKey) -> Bool {
    HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Data(text.utf8), using: key)
  }

  var description: String { "(token \(id))" }
  var debugDescription: String { description }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Base64 with the alphabet for URLs and without padding (RFC 4648 §5).
enum Base64URL {
  static func encode(_ bytes: some Sequence<UInt8>) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
  }

  /// Decodes the output of ``encode(_:)``. Returns `nil` for any other encoding of the same bytes.
  static func decode(_ text: String) -> [UInt8]? {
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    let standard = text.replacing("-", with: "+").replacing("_", with: "/") + padding
    guard let data = Data(base64Encoded: standard), encode(data) == text else { return nil }
    return Array(data)
  }
}
