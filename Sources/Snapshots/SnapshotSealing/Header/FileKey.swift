import Foundation

#if canImport(CryptoKit)
  import CryptoKit
#else
  import Crypto
#endif

/// The key of one file, from which those of its header and of its payload are derived.
package struct FileKey: Sendable {
  static let size = 16

  private let key: SymmetricKey

  /// Makes a key from the system's random numbers.
  init() { key = SymmetricKey(size: .bits128) }

  /// Creates a key that a stanza contained; `nil` unless it has 16 bytes.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.size else { return nil }
    key = SymmetricKey(data: bytes)
  }

  var bytes: [UInt8] { key.bytes }

  private func derived(salt: [UInt8], info: String) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(inputKeyMaterial: key, salt: salt, info: Array(info.utf8), outputByteCount: 32)
  }

  /// The authentication code of a header.
  func headerCode(of text: [UInt8]) -> [UInt8] {
    Array(HMAC<SHA256>.authenticationCode(for: text, using: derived(salt: [], info: "header")))
  }

  /// Whether `code` authenticates `text`. Takes the same time for any wrong code.
  func isHeaderCode(_ code: [UInt8], of text: [UInt8]) -> Bool {
    HMAC<SHA256>.isValidAuthenticationCode(
      code, authenticating: text, using: derived(salt: [], info: "header"))
  }

  /// The cipher of the payload with this nonce.
  func chunkCipher(nonce: [UInt8]) -> ChunkCipher { ChunkCipher(key: derived(salt: nonce, info: "payload")) }
}
