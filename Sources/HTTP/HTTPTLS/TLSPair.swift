import COpenSSL
import Foundation

/// A certificate with its chain and its key, which fit each other.
struct TLSPair: Sendable {
  /// The kinds of keys that servers use.
  enum Kind: Sendable, Hashable {
    case rsa
    case ecdsa
  }

  /// The smallest RSA key, in bits.
  private static let minimumRSABits: Int32 = 2048

  let certificate: X509Certificate
  /// The certificates of the issuers, in order.
  let chain: [X509Certificate]
  let key: PrivateKey
  let kind: Kind
  /// The names for which the certificate is valid, in lower case; the first label can be `*`.
  let names: [String]
  /// A stapled response about the certificate; `nil` if there is none.
  let staple: OCSPStaple?

  /// Reads and checks a pair.
  init(_ files: TLSFiles, now: Date) throws(TLSError) {
    let certificates = try TLSFile.certificates(files.certificate)
    certificate = certificates[0]
    chain = Array(certificates.dropFirst())
    key = try TLSFile.key(files.key)
    names = certificate.names
    kind = try Self.kind(of: key, files.key)
    guard X509_check_private_key(certificate.pointer, key.pointer) == 1 else {
      OpenSSLErrors.clear()
      throw TLSError(
        "The key in \(files.key) does not belong to the first certificate in \(files.certificate).")
    }
    for (index, one) in certificates.enumerated() {
      try Self.checkDates(of: one, "Certificate \(index + 1) in \(files.certificate)", now)
      guard index > 0, !certificates[index - 1].isIssued(by: one) else { continue }
      throw TLSError(
        """
        Certificate \(index + 1) in \(files.certificate) is not the issuer of certificate \(index); the file must \
        contain the server's certificate, then its issuers in order.
        """)
    }
    if names.isEmpty { throw TLSError("The certificate in \(files.certificate) is for no name.") }
    staple = try files.staple.map { (path) throws(TLSError) in
      try OCSPStaple(path, of: certificates, now: now)
    }
  }

  private static func kind(of key: PrivateKey, _ path: String) throws(TLSError) -> Kind {
    switch EVP_PKEY_get_base_id(key.pointer) {
    case EVP_PKEY_RSA:
      let bits = EVP_PKEY_get_bits(key.pointer)
      guard bits >= minimumRSABits else {
        throw TLSError("The RSA key in \(path) has \(bits) bits; at least \(minimumRSABits) are needed.")
      }
      return .rsa
    case EVP_PKEY_EC: return .ecdsa
    default: throw TLSError("The key in \(path) is neither an RSA nor an ECDSA key.")
    }
  }

  private static func checkDates(
    of certificate: X509Certificate, _ what: String, _ now: Date
  ) throws(TLSError) {
    guard let validity = certificate.validity else {
      throw TLSError("\(what) has malformed dates.")
    }
    if now > validity.upperBound { throw TLSError("\(what) expired at \(text(validity.upperBound)).") }
    if now < validity.lowerBound {
      throw TLSError("\(what) is valid only from \(text(validity.lowerBound)); is the clock right?")
    }
  }

  private static func text(_ date: Date) -> String { date.formatted(.iso8601) }
}

/// The files of one certificate.
public struct TLSFiles: Sendable, Hashable {
  /// A PEM file with the server's certificate, followed by its issuers in order, without the root.
  public var certificate: String
  /// A PEM file with the private key, which is not encrypted.
  public var key: String
  /// A DER file with an OCSP response about the certificate; `nil` for none.
  public var staple: String?

  /// Creates a description of the files.
  public init(certificate: String, key: String, staple: String? = nil) {
    self.certificate = certificate
    self.key = key
    self.staple = staple
  }
}
