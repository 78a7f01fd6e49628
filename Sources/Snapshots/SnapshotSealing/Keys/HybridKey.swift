import Foundation

#if canImport(CryptoKit)
  import CryptoKit
#else
  import Crypto
#endif

/// HPKE (RFC 9180) in base mode, as the newer recipient types use it, where the system has it.
enum HybridKey {
  private static let systems = "iOS 26, macOS 26 or Linux"
  private static let name = "The type of key that resists quantum computers"

  /// The public key of the identity with this seed.
  static func publicKey(ofSeed seed: [UInt8]) throws(SealingError) -> [UInt8] {
    guard #available(macOS 26, iOS 26, watchOS 26, tvOS 26, visionOS 26, *) else {
      throw .unsupportedKey(name, requires: systems)
    }
    return try SealingError.cryptography(
      try Array(
        XWingMLKEM768X25519.PrivateKey(seedRepresentation: seed, publicKey: nil).publicKey.rawRepresentation))
  }

  /// Encrypts `plaintext` for the recipient with this public key.
  static func seal(
    _ plaintext: [UInt8], to publicKey: [UInt8], info: String
  ) throws(SealingError) -> (share: [UInt8], ciphertext: [UInt8]) {
    guard #available(macOS 26, iOS 26, watchOS 26, tvOS 26, visionOS 26, *) else {
      throw .unsupportedKey(name, requires: systems)
    }
    do {
      var sender = try HPKE.Sender(
        recipientKey: XWingMLKEM768X25519.PublicKey(rawRepresentation: publicKey),
        ciphersuite: .init(kem: .XWingMLKEM768X25519, kdf: .HKDF_SHA256, aead: .chaChaPoly),
        info: Data(info.utf8))
      let ciphertext = try sender.seal(plaintext)
      return (Array(sender.encapsulatedKey), Array(ciphertext))
    } catch {
      throw .malformedRecipient("A recipient age1pq1… has an invalid key.")
    }
  }

  /// Decrypts `ciphertext`; `nil` if it was encrypted for another key. Throws if no key can have made `share`.
  static func open(
    _ ciphertext: [UInt8], share: [UInt8], seed: [UInt8], info: String
  ) throws(SealingError) -> [UInt8]? {
    guard #available(macOS 26, iOS 26, watchOS 26, tvOS 26, visionOS 26, *) else {
      throw .unsupportedKey(name, requires: systems)
    }
    var recipient: HPKE.Recipient
    do {
      recipient = try HPKE.Recipient(
        privateKey: XWingMLKEM768X25519.PrivateKey(seedRepresentation: seed, publicKey: nil),
        ciphersuite: .init(kem: .XWingMLKEM768X25519, kdf: .HKDF_SHA256, aead: .chaChaPoly),
        info: Data(info.utf8),
        encapsulatedKey: Data(share))
    } catch {
      throw .malformedStanza("mlkem768x25519")
    }
    do { return try Array(recipient.open(ciphertext)) } catch { return nil }
  }
}

/// A public key of the curve P-256, whose secret key is in hardware.
enum TaggedKey {
  /// Encrypts `plaintext` for the recipient with this compressed point.
  static func seal(
    _ plaintext: [UInt8], to point: [UInt8], info: String
  ) throws(SealingError) -> (share: [UInt8], ciphertext: [UInt8]) {
    guard #available(macOS 14, iOS 17, watchOS 10, tvOS 17, visionOS 1, *) else {
      throw .unsupportedKey("A recipient age1tag1…", requires: "iOS 17, macOS 14 or Linux")
    }
    do {
      var sender = try HPKE.Sender(
        recipientKey: P256.KeyAgreement.PublicKey(compressedRepresentation: point),
        ciphersuite: .init(kem: .P256_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .chaChaPoly),
        info: Data(info.utf8))
      let ciphertext = try sender.seal(plaintext)
      return (Array(sender.encapsulatedKey), Array(ciphertext))
    } catch {
      throw .failed("\(error)")
    }
  }

  /// Four bytes by which the hardware finds its stanza.
  static func tag(of point: [UInt8], share: [UInt8], info: String) -> [UInt8] {
    let secret = SymmetricKey(data: share + SHA256.hash(data: point).prefix(4))
    return Array(HKDF<SHA256>.extract(inputKeyMaterial: secret, salt: Data(info.utf8)).prefix(4))
  }
}
