import Foundation

#if canImport(CryptoKit)
  import CryptoKit
#else
  import Crypto
#endif

/// A secret key that opens what is sealed to its recipient.
///
/// `AGE-SECRET-KEY-1…`, as `age-keygen` makes it, or `AGE-SECRET-KEY-PQ-1…`. Its description is that of the recipient, so
/// that the secret gets into no log; ``secretText`` is the secret.
public struct SealingIdentity: Sendable, CustomStringConvertible, CustomReflectable {
  enum Key {
    case x25519(Curve25519.KeyAgreement.PrivateKey)
    /// The seed, because the type of the key does not exist on older systems.
    case hybrid(SymmetricKey)
  }

  static let commonPrefix = "AGE-SECRET-KEY-"
  static let hybridPrefix = "AGE-SECRET-KEY-PQ-"

  let key: Key
  /// The recipient that this identity opens for.
  public let recipient: SealingRecipient

  /// Parses an identity. The error never contains the text.
  public init(_ text: String) throws(SealingError) {
    let prefix: String, bytes: [UInt8]
    do {
      (prefix, bytes) = try Bech32.decode(text)
    } catch {
      throw .malformedIdentity("This is not an identity such as AGE-SECRET-KEY-1…: \(error.clause).")
    }
    guard prefix == Self.commonPrefix || prefix == Self.hybridPrefix else {
      throw .malformedIdentity(
        "This is not an identity: it does not begin with AGE-SECRET-KEY- in upper case.")
    }
    guard bytes.count == 32 else {
      throw .malformedIdentity("This is not an identity: its key has the wrong length.")
    }
    if prefix == Self.commonPrefix {
      try self.init(
        SealingError.cryptography(try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: bytes)))
    } else {
      try self.init(hybridSeed: bytes)
    }
  }

  private init(_ privateKey: Curve25519.KeyAgreement.PrivateKey) {
    key = .x25519(privateKey)
    recipient = SealingRecipient(.x25519(Array(privateKey.publicKey.rawRepresentation)))
  }

  private init(hybridSeed: [UInt8]) throws(SealingError) {
    key = .hybrid(SymmetricKey(data: hybridSeed))
    recipient = SealingRecipient(.hybrid(try HybridKey.publicKey(ofSeed: hybridSeed)))
  }

  /// Makes an identity of the type X25519 from the system's random numbers.
  public static func generate() -> SealingIdentity { SealingIdentity(Curve25519.KeyAgreement.PrivateKey()) }

  /// Makes an identity that resists quantum computers. Throws ``SealingError/unsupportedKey(_:requires:)`` on systems
  /// before iOS 26 and macOS 26.
  public static func generateHybrid() throws(SealingError) -> SealingIdentity {
    try SealingIdentity(hybridSeed: SymmetricKey(size: .bits256).bytes)
  }

  /// The secret, as `age` reads it.
  public var secretText: String {
    switch key {
    case .x25519(let privateKey): Bech32.encode(privateKey.rawRepresentation, prefix: Self.commonPrefix)
    case .hybrid(let seed): Bech32.encode(seed.bytes, prefix: Self.hybridPrefix)
    }
  }

  /// The recipient, not the secret.
  public var description: String { "the identity of \(recipient.abridged)" }

  /// A mirror without the secret.
  public var customMirror: Mirror { Mirror(self, children: ["recipient": recipient.description]) }
}

extension SymmetricKey {
  /// The bytes of the key.
  var bytes: [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }
}
