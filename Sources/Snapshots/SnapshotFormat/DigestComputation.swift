import Crypto

/// The digest of bytes that come piece by piece.
public struct DigestComputation: Sendable {
  private var hash = SHA256()

  /// Of no bytes yet.
  public init() {}

  /// Takes the next bytes.
  public mutating func update(_ bytes: [UInt8]) { hash.update(data: bytes) }

  /// The digest of all bytes so far.
  public var digest: ContentDigest { ContentDigest(hash.finalize()) }
}
