import COpenSSL
import Foundation

/// An OCSP response (RFC 6960) that the server sends with its certificate, so that clients need not ask the issuer.
struct OCSPStaple: Sendable {
  /// How much the clocks of server and issuer may differ, in seconds.
  private static let tolerance: TimeInterval = 300

  let bytes: [UInt8]
  /// When the response becomes invalid; `nil` if it does not say so.
  let expires: Date?

  /// Reads a response in DER format, which must be about the first one of `certificates`.
  init(_ path: String, of certificates: [X509Certificate], now: Date) throws(TLSError) {
    bytes = try TLSFile.read(path, what: "an OCSP response")
    OpenSSLErrors.clear()
    defer { OpenSSLErrors.clear() }
    let parsed = bytes.withUnsafeBufferPointer { buffer in
      var start = buffer.baseAddress
      return d2i_OCSP_RESPONSE(nil, &start, buffer.count)
    }
    guard let response = parsed else { throw TLSError("\(path) contains no OCSP response in DER format.") }
    defer { OCSP_RESPONSE_free(response) }
    guard OCSP_response_status(response) == OCSP_RESPONSE_STATUS_SUCCESSFUL,
      let basic = OCSP_response_get1_basic(response)
    else { throw TLSError("The OCSP response in \(path) reports an error of the responder.") }
    defer { OCSP_BASICRESP_free(basic) }
    guard certificates.count > 1,
      let id = OCSP_cert_to_id(nil, certificates[0].pointer, certificates[1].pointer)
    else {
      throw TLSError(
        "The OCSP response in \(path) can't be checked without the issuer's certificate in the chain.")
    }
    defer { OCSP_CERTID_free(id) }
    var status: Int32 = -1
    var next: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    var this: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    guard OCSP_resp_find_status(basic, id, &status, nil, nil, &this, &next) == 1 else {
      throw TLSError("The OCSP response in \(path) is not about the server's certificate.")
    }
    guard status == V_OCSP_CERTSTATUS_GOOD else {
      throw TLSError("The OCSP response in \(path) says that the certificate is revoked or unknown.")
    }
    expires = X509Certificate.date(next)
    // Without a time of its end, it does not expire.
    let end = next == nil ? Date.distantFuture : expires ?? .distantPast
    guard let begins = X509Certificate.date(this), begins <= now + Self.tolerance, begins <= end,
      now < end + Self.tolerance
    else { throw TLSError("The OCSP response in \(path) is out of date.") }
  }

  func isValid(at now: Date) -> Bool { expires.map { now < $0 } ?? true }
}
