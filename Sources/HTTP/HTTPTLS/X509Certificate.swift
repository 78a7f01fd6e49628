import COpenSSL
import Foundation

/// A certificate of a PEM file.
///
/// - Invariant: the certificate is never changed, and OpenSSL counts its references atomically. This makes
///   `@unchecked Sendable` correct.
final class X509Certificate: @unchecked Sendable {
  let pointer: OpaquePointer

  /// Takes ownership of a reference.
  init(taking pointer: OpaquePointer) { self.pointer = pointer }

  deinit { X509_free(pointer) }

  /// The names for which the certificate is valid, in lower case: its DNS names, or without any its common name.
  var names: [String] {
    let found = alternativeNames.map { $0.lowercased() }
    if !found.isEmpty { return found }
    return Self.commonName(of: pointer).map { [$0.lowercased()] } ?? []
  }

  private var alternativeNames: [String] {
    guard let list = X509_get_ext_d2i(pointer, NID_subject_alt_name, nil, nil) else { return [] }
    let names = OpaquePointer(list)
    defer { GENERAL_NAMES_free(names) }
    return (0..<OPENSSL_sk_num(names)).compactMap { index in
      guard let entry = OPENSSL_sk_value(names, index) else { return nil }
      var kind: Int32 = 0
      let name = entry.assumingMemoryBound(to: GENERAL_NAME.self)
      guard let value = GENERAL_NAME_get0_value(name, &kind), kind == GEN_DNS else { return nil }
      return Self.text(value.assumingMemoryBound(to: ASN1_STRING.self))
    }
  }

  /// The common name of the subject of `certificate`; `nil` if it has none or several.
  static func commonName(of certificate: OpaquePointer) -> String? {
    let subject = X509_get_subject_name(certificate)
    let index = X509_NAME_get_index_by_NID(subject, NID_commonName, -1)
    guard index >= 0, X509_NAME_get_index_by_NID(subject, NID_commonName, index) < 0,
      let entry = X509_NAME_get_entry(subject, index), let data = X509_NAME_ENTRY_get_data(entry)
    else { return nil }
    var bytes: UnsafeMutablePointer<UInt8>?
    let count = ASN1_STRING_to_UTF8(&bytes, data)
    guard count >= 0, let bytes else { return nil }
    defer { CRYPTO_free(bytes, nil, 0) }
    let text = String(decoding: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
    // A name with a NUL could be mistaken for another one.
    return text.contains("\0") ? nil : text
  }

  private static func text(_ value: UnsafePointer<ASN1_STRING>) -> String? {
    guard let start = ASN1_STRING_get0_data(value) else { return nil }
    let bytes = UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(value)))
    return bytes.contains(0) ? nil : String(decoding: bytes, as: UTF8.self)
  }

  /// The SHA-256 digest of a certificate, in hexadecimal digits.
  static func fingerprint(of certificate: OpaquePointer) -> String {
    digest { X509_digest(certificate, EVP_sha256(), $0, $1) }
      .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// The SHA-256 digest of the public key in DER format, with its algorithm.
  var keyDigest: [UInt8] {
    var bytes: UnsafeMutablePointer<UInt8>?
    let count = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(pointer), &bytes)
    guard count > 0, let bytes else { return [] }
    defer { CRYPTO_free(bytes, nil, 0) }
    return Self.digest { EVP_Digest(bytes, Int(count), $0, $1, EVP_sha256(), nil) }
  }

  private static func digest(
    _ compute: (UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<UInt32>) -> Int32
  ) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    guard compute(&bytes, &count) == 1 else { return [] }
    return Array(bytes[..<Int(count)])
  }

  /// The first and the last second in which the certificate is valid; `nil` for a malformed time.
  var validity: ClosedRange<Date>? {
    guard let first = Self.date(X509_get0_notBefore(pointer)),
      let last = Self.date(X509_get0_notAfter(pointer)),
      first <= last
    else { return nil }
    return first...last
  }

  /// Converts a time of OpenSSL; `nil` if it is malformed.
  static func date(_ time: UnsafePointer<ASN1_TIME>?) -> Date? {
    var days: Int32 = 0
    var seconds: Int32 = 0
    guard let time, let epoch = ASN1_TIME_set(nil, 0) else { return nil }
    defer { ASN1_STRING_free(epoch) }
    guard ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return nil }
    return Date(timeIntervalSince1970: TimeInterval(days) * 86_400 + TimeInterval(seconds))
  }

  /// Whether `other` has issued this certificate, judged by names and key identifiers.
  func isIssued(by other: X509Certificate) -> Bool { X509_check_issued(other.pointer, pointer) == X509_V_OK }
}
