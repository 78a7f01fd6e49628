import Crypto
import Foundation

/// A sealed file that is made from the rules of the format, independently of the implementation. Its parts can be made
/// wrong before it is written.
struct HandmadeFile {
  /// The identity that opens the file: 32 bytes 0x42.
  static let identity = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX"
  static let recipient = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"

  static let fileKey = Data("SIXTEEN BYTE KEY".utf8)
  static let nonce = Data((0..<16).map { UInt8($0) })

  /// The version line, the lines of all stanzas, and the three dashes.
  var head: String
  /// What follows the dashes; the right code if `nil`.
  var ending: String?
  /// Chunks of contents, each with its counter and whether it is marked as the last.
  var chunks: [(contents: Data, counter: Int, isLast: Bool)]
  /// Bytes after the last chunk.
  var trailing = Data()

  init(stanza: String = Self.x25519Stanza(), contents: Data = Data("recorded".utf8)) {
    head = "age-encryption.org/v1\n\(stanza)---"
    let count = max(1, (contents.count + 65_535) / 65_536)
    chunks = (0..<count).map { index in
      (contents.dropFirst(65_536 * index).prefix(65_536), index, index == count - 1)
    }
  }

  /// The header without the payload.
  var header: String {
    let key = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: Self.fileKey), info: Data("header".utf8), outputByteCount: 32)
    let code = Data(HMAC<SHA256>.authenticationCode(for: Data(head.utf8), using: key))
    return head + (ending ?? " \(Self.base64(code))\n")
  }

  /// All bytes of the file.
  func bytes() throws -> [UInt8] {
    let key = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: Self.fileKey), salt: Self.nonce, info: Data("payload".utf8),
      outputByteCount: 32)
    var file = Data(header.utf8) + Self.nonce
    for chunk in chunks {
      let counter = (0..<11).map { UInt8(truncatingIfNeeded: chunk.counter >> (8 * (10 - $0))) }
      let nonce = try ChaChaPoly.Nonce(data: counter + [chunk.isLast ? 1 : 0])
      let box = try ChaChaPoly.seal(chunk.contents, using: key, nonce: nonce)
      file += box.ciphertext + box.tag
    }
    return Array(file + trailing)
  }

  /// Base64 without padding.
  static func base64(_ data: Data) -> String { data.base64EncodedString().filter { $0 != "=" } }

  /// A stanza for ``recipient``.
  /// - Parameters:
  ///   - arguments: A change of the arguments behind the arrow.
  ///   - key: The key that is encrypted.
  static func x25519Stanza(
    key: Data = fileKey, arguments: (String) -> String = { "X25519 \($0)" }, body: (String) -> String = { $0 }
  ) -> String {
    do {
      let ephemeral = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: Data(repeating: 7, count: 32))
      let recipient = try Curve25519.KeyAgreement.PrivateKey(
        rawRepresentation: Data(repeating: 0x42, count: 32)
      )
      .publicKey
      let share = ephemeral.publicKey.rawRepresentation
      let wrapping = try ephemeral.sharedSecretFromKeyAgreement(with: recipient).hkdfDerivedSymmetricKey(
        using: SHA256.self, salt: share + recipient.rawRepresentation,
        sharedInfo: Data("age-encryption.org/v1/X25519".utf8), outputByteCount: 32)
      let box = try ChaChaPoly.seal(
        key, using: wrapping, nonce: ChaChaPoly.Nonce(data: Data(repeating: 0, count: 12)))
      return "-> \(arguments(base64(share)))\n\(body(base64(box.ciphertext + box.tag)))\n"
    } catch {
      return "\(error)"
    }
  }
}
