import COpenSSL
public import Foundation
import SystemIO

/// A certificate that no authority has issued, for a local network: clients must pin its key.
public enum SelfSignedCertificate {
  /// How long a certificate is valid, in days. Apple's systems accept no longer period.
  public static let days = 397

  /// The text of a certificate and of its key, both in PEM format.
  public struct Text: Sendable {
    /// The certificate.
    public let certificate: [UInt8]
    /// The private key, which is not encrypted.
    public let key: [UInt8]
  }

  /// Makes a certificate with an ECDSA key (P-256).
  ///
  /// - Parameters:
  ///   - names: DNS names and IP addresses of the server, at least one.
  ///   - key: a private key in PEM format to use instead of a new one, so that its ``KeyPin`` remains.
  ///   - now: the time from which it is valid.
  /// - Throws: ``TLSError`` if OpenSSL can't make one.
  public static func make(
    names: [String], key: [UInt8]? = nil, now: Date = Date()
  ) throws(TLSError) -> Text {
    let known = try key.map { (bytes) throws(TLSError) in try TLSFile.key(in: bytes, "the key") }
    guard let made = known?.pointer ?? snapshot_ssl_make_key() else { throw failure() }
    let key = known ?? PrivateKey(taking: made)
    guard let pointer = X509_new() else { throw failure() }
    let certificate = X509Certificate(taking: pointer)
    let alternatives = names.map { (IPAddress($0) == nil ? "DNS:" : "IP:") + $0 }.joined(separator: ",")
    var serial: UInt64 = 0
    withUnsafeMutableBytes(of: &serial) { $0.copyBytes(from: (0..<8).map { _ in UInt8.random(in: 0...255) }) }
    let start = Int(now.timeIntervalSince1970)
    guard X509_set_version(pointer, 2) == 1,
      ASN1_INTEGER_set_uint64(X509_get_serialNumber(pointer), serial >> 1 | 1) == 1,
      ASN1_TIME_set(X509_getm_notBefore(pointer), start) != nil,
      ASN1_TIME_set(X509_getm_notAfter(pointer), start + days * 86_400) != nil,
      X509_set_pubkey(pointer, key.pointer) == 1,
      X509_NAME_add_entry_by_NID(
        X509_get_subject_name(pointer), NID_commonName, MBSTRING_UTF8, Array(names[0].utf8),
        Int32(names[0].utf8.count), -1, 0) == 1,
      X509_set_issuer_name(pointer, X509_get_subject_name(pointer)) == 1,
      add(NID_subject_alt_name, alternatives, to: pointer),
      add(NID_basic_constraints, "critical,CA:FALSE", to: pointer),
      add(NID_key_usage, "critical,digitalSignature", to: pointer),
      add(NID_ext_key_usage, "serverAuth", to: pointer),
      X509_sign(pointer, key.pointer, EVP_sha256()) > 0
    else { throw failure() }
    return Text(
      certificate: try text { PEM_write_bio_X509($0, certificate.pointer) },
      key: try text { PEM_write_bio_PKCS8PrivateKey($0, key.pointer, nil, nil, 0, nil, nil) })
  }

  private static func add(_ kind: Int32, _ value: String, to certificate: OpaquePointer) -> Bool {
    guard let made = X509V3_EXT_conf_nid(nil, nil, kind, value) else { return false }
    defer { X509_EXTENSION_free(made) }
    return X509_add_ext(certificate, made, -1) == 1
  }

  private static func text(_ write: (OpaquePointer) -> Int32) throws(TLSError) -> [UInt8] {
    guard let memory = BIO_new(BIO_s_mem()) else { throw failure() }
    defer { BIO_free(memory) }
    guard write(memory) == 1 else { throw failure() }
    var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(memory))
    let count = BIO_read(memory, &bytes, Int32(bytes.count))
    return Array(bytes.prefix(Int(max(count, 0))))
  }

  private static func failure() -> TLSError {
    TLSError("OpenSSL can't make a certificate: \(OpenSSLErrors.take().text).")
  }
}
