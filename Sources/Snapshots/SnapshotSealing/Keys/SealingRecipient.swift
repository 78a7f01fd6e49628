import Foundation

#if canImport(CryptoKit)
  import CryptoKit
#else
  import Crypto
#endif

/// A public key that snapshots are sealed to.
///
/// Of these types, by their text:
///
/// - `age1…`: X25519, as `age-keygen` makes them.
/// - `age1pq1…`: ML-KEM-768 with X25519, which resists quantum computers. Needs iOS 26 or macOS 26, or Linux.
/// - `age1tag1…`: P-256, whose secret key stays in a Secure Enclave or on a token. Needs iOS 17 or macOS 14, or Linux.
public struct SealingRecipient: Hashable, Sendable, CustomStringConvertible {
  /// The type, and the bytes of the public key.
  enum Key: Hashable {
    case x25519([UInt8])
    case hybrid([UInt8])
    case tagged([UInt8])
  }

  let key: Key
  /// The recipient as text, as `age` reads it.
  public let description: String

  /// The maximum length of the text in bytes.
  static let maximumLength = 4_096

  /// Parses a recipient. Throws ``SealingError/malformedRecipient(_:)`` with a sentence for its author.
  public init(_ text: String) throws(SealingError) {
    guard text.utf8.count <= Self.maximumLength else {
      throw .malformedRecipient(
        "A recipient has at most \(Self.maximumLength) characters; this one is longer.")
    }
    guard !text.hasPrefix(SealingIdentity.commonPrefix) else {
      throw .malformedRecipient(
        "This is a secret identity, not a recipient. `snapshot keys recipients FILE` prints its recipient.")
    }
    guard !text.hasPrefix("ssh-") else {
      throw .malformedRecipient(
        "SSH keys are not supported. `snapshot keys create` makes a key whose recipient is.")
    }
    let prefix: String, bytes: [UInt8]
    do {
      (prefix, bytes) = try Bech32.decode(text)
    } catch {
      throw .malformedRecipient(
        "‘\(Self.abridged(text))’ is not a recipient such as age1…: \(error.clause). Copy it again.")
    }
    switch (prefix, bytes.count) {
    case ("age", 32): key = .x25519(bytes)
    case ("age1pq", 1_216): key = .hybrid(bytes)
    case ("age1tag", 33):
      do {
        _ = try P256.KeyAgreement.PublicKey(compressedRepresentation: bytes)
      } catch {
        throw .malformedRecipient(
          "‘\(Self.abridged(text))’ is not a recipient: its point is not on the curve P-256.")
      }
      key = .tagged(bytes)
    case ("age", _), ("age1pq", _), ("age1tag", _):
      throw .malformedRecipient("‘\(Self.abridged(text))’ is not a recipient: its key has the wrong length.")
    case ("age1tagpq", _):
      throw .malformedRecipient(
        "Recipients age1tagpq1… are not supported: no library for Swift has ML-KEM-768 with P-256. Use age1tag1…."
      )
    case _ where prefix.hasPrefix("age1"):
      throw .malformedRecipient(
        "‘\(Self.abridged(text))’ belongs to an age plugin, which is not supported. Use age1…, age1pq1… or age1tag1…."
      )
    default:
      throw .malformedRecipient(
        "‘\(Self.abridged(text))’ is not a recipient: it does not begin with age1 in lower case.")
    }
    description = text
  }

  /// Creates a recipient of an identity.
  init(_ key: Key) {
    self.key = key
    description =
      switch key {
      case .x25519(let bytes): Bech32.encode(bytes, prefix: "age")
      case .hybrid(let bytes): Bech32.encode(bytes, prefix: "age1pq")
      case .tagged(let bytes): Bech32.encode(bytes, prefix: "age1tag")
      }
  }

  /// The recipient in at most 24 characters, for lists: its beginning and its end.
  public var abridged: String {
    description.count <= 24 ? description : "\(description.prefix(14))…\(description.suffix(8))"
  }

  /// Whether the type resists quantum computers.
  var isHybrid: Bool { if case .hybrid = key { true } else { false } }

  private static func abridged(_ text: String) -> String { text.count > 80 ? text.prefix(80) + "…" : text }
}

extension Bech32.Refusal {
  /// The reason as a clause.
  var clause: String {
    switch self {
    case .mixedCase: "upper and lower case are mixed"
    case .separator: "it is incomplete"
    case .character: "it contains a character that keys don't have"
    case .checksum: "its checksum is wrong"
    case .padding: "its last character is not one that keys end with"
    }
  }
}
