import Foundation
import JSONText

#if canImport(CryptoKit)
  import CryptoKit
#else
  import Crypto
#endif

private let x25519Type = "X25519"
private let hybridType = "mlkem768x25519"
private let taggedType = "p256tag"
private let infoStart = "age-encryption.org/"
private let x25519Info = "age-encryption.org/v1/X25519"
/// The size of an encrypted file key. Another size is refused before anything is decrypted.
let wrappedKeySize = FileKey.size + 16

extension SealingRecipient {
  /// Encrypts the key of a file for this recipient.
  func wrap(_ fileKey: FileKey) throws(SealingError) -> Stanza {
    switch key {
    case .x25519(let bytes):
      let ephemeral = Curve25519.KeyAgreement.PrivateKey()
      let share = Array(ephemeral.publicKey.rawRepresentation)
      guard
        let wrapping = try wrappingKey(of: ephemeral, with: bytes, salt: share + bytes)
      else { throw .malformedRecipient("‘\(abridged)’ is not a recipient: its key is a weak one.") }
      return Stanza(
        arguments: [x25519Type, Base64.encodeUnpadded(share)], body: try wrapping.seal(fileKey))
    case .hybrid(let bytes):
      let (share, body) = try HybridKey.seal(fileKey.bytes, to: bytes, info: infoStart + hybridType)
      return Stanza(arguments: [hybridType, Base64.encodeUnpadded(share)], body: body)
    case .tagged(let point):
      let (share, body) = try TaggedKey.seal(fileKey.bytes, to: point, info: infoStart + taggedType)
      let tag = TaggedKey.tag(of: point, share: share, info: infoStart + taggedType)
      return Stanza(
        arguments: [taggedType, Base64.encodeUnpadded(tag), Base64.encodeUnpadded(share)], body: body)
    }
  }
}

extension SealingIdentity: UnwrappingKey {
  package func unwrap(_ stanzas: [Stanza]) throws(SealingError) -> FileKey? {
    switch key {
    case .x25519(let privateKey):
      for stanza in stanzas where stanza.type == x25519Type {
        let share = try stanza.share(of: 32)
        let salt = share + privateKey.publicKey.rawRepresentation
        guard let wrapping = try wrappingKey(of: privateKey, with: share, salt: salt) else {
          throw .malformedStanza(x25519Type)
        }
        if let key = wrapping.open(stanza.body) { return key }
      }
    case .hybrid(let seed):
      for stanza in stanzas where stanza.type == hybridType {
        let share = try stanza.share(of: 1_120)
        if let bytes = try HybridKey.open(
          stanza.body, share: share, seed: seed.bytes, info: infoStart + hybridType)
        {
          return FileKey(bytes)
        }
      }
    }
    return nil
  }
}

extension Stanza {
  /// The types that this software knows. Others are kept when a header is written again.
  var isKnown: Bool { [x25519Type, hybridType, taggedType, "mlkem768p256tag", "scrypt"].contains(type) }

  /// The only argument behind the type, and a check of all else that the type prescribes.
  fileprivate func share(of size: Int) throws(SealingError) -> [UInt8] {
    guard arguments.count == 2, let share = Base64.decodeUnpadded(arguments[1]), share.count == size,
      body.count == wrappedKeySize
    else { throw .malformedStanza(type) }
    return share
  }
}

/// The key that encrypts the key of a file: `nil` if the other side's key is one with which every secret is zero.
private func wrappingKey(
  of privateKey: Curve25519.KeyAgreement.PrivateKey, with publicKey: [UInt8], salt: [UInt8]
) throws(SealingError) -> WrappingKey? {
  let other = try SealingError.cryptography(
    try Curve25519.KeyAgreement.PublicKey(rawRepresentation: publicKey))
  let secret: SharedSecret
  do { secret = try privateKey.sharedSecretFromKeyAgreement(with: other) } catch { return nil }
  guard unsafe secret.withUnsafeBytes({ unsafe $0.contains { $0 != 0 } }) else { return nil }
  return WrappingKey(
    secret.hkdfDerivedSymmetricKey(
      using: SHA256.self, salt: salt, sharedInfo: Array(x25519Info.utf8), outputByteCount: 32))
}

/// A key that is used once, with a nonce of zeros, to encrypt the key of a file.
struct WrappingKey {
  private let key: SymmetricKey

  init(_ key: SymmetricKey) { self.key = key }
  init(_ bytes: [UInt8]) { key = SymmetricKey(data: bytes) }

  func seal(_ fileKey: FileKey) throws(SealingError) -> [UInt8] {
    Array(
      try SealingError.cryptography(
        try ChaChaPoly.seal(
          fileKey.bytes, using: key, nonce: ChaChaPoly.Nonce(data: [UInt8](repeating: 0, count: 12)))
      ).combined.dropFirst(12))
  }

  func open(_ body: [UInt8]) -> FileKey? {
    do {
      let box = try ChaChaPoly.SealedBox(combined: [UInt8](repeating: 0, count: 12) + body)
      return FileKey(Array(try ChaChaPoly.open(box, using: key)))
    } catch {
      return nil
    }
  }
}
