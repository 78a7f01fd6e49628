public import Foundation

#if canImport(CryptoKit)
  import CryptoKit
#else
  import Crypto
#endif

/// How a client recognizes a server in a TLS handshake.
public enum ServerTrust: Sendable, Hashable {
  /// By a certificate for the server's name, from an authority that the system trusts.
  case system
  /// By its public key alone. The certificate can be self-signed, expired, or for another name.
  case pinned(ServerPin)
  /// Like ``system``, but also with the authorities in this PEM file. `URLSession` does not support it.
  case authorities(URL)
}

/// The SHA-256 digest of a server's public key, in DER format with its algorithm (RFC 7469 §2.4).
///
/// `snapshot serve --tls-self-signed` prints it.
public struct ServerPin: Sendable, Hashable, CustomStringConvertible, LosslessStringConvertible {
  private static let prefix = "sha256//"

  /// The digest, 32 bytes.
  public let digest: Data

  /// Parses a pin: the digest in Base64, with or without `sha256//` before it. Returns `nil` for any other text.
  public init?(_ text: String) {
    let base64 = text.hasPrefix(Self.prefix) ? String(text.dropFirst(Self.prefix.count)) : text
    guard let digest = Data(base64Encoded: base64), digest.count == 32 else { return nil }
    self.digest = digest
  }

  /// The pin in the form of curl's option `--pinnedpubkey`.
  public var description: String { Self.prefix + digest.base64EncodedString() }

  /// Whether a certificate in DER format contains the pinned key.
  package func matches(certificate: Data) -> Bool {
    DERCertificate.publicKeyInfo(of: certificate).map { Data(SHA256.hash(data: $0)) == digest } ?? false
  }
}
