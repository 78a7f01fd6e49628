package import Foundation

/// Finds the public key in a certificate (RFC 5280 §4.1), which Apple's systems do not return in the form that pins use.
package enum DERCertificate {
  /// The field `subjectPublicKeyInfo` of a certificate in DER format; `nil` if the certificate is malformed.
  package static func publicKeyInfo(of certificate: Data) -> Data? {
    var outer = Reader(bytes: Array(certificate)[...])
    guard var body = outer.read(tag: 0x30)?.contents.reader,
      var fields = body.read(tag: 0x30)?.contents.reader
    else { return nil }
    // The version is optional. Then follow the serial number, the algorithm, issuer, validity and subject.
    if fields.nextTag == 0xA0 { _ = fields.read(tag: 0xA0) }
    for tag: UInt8 in [0x02, 0x30, 0x30, 0x30, 0x30] {
      guard fields.read(tag: tag) != nil else { return nil }
    }
    return fields.read(tag: 0x30).map { Data($0.whole) }
  }

  /// Reads elements of tag, length and contents.
  fileprivate struct Reader {
    var bytes: ArraySlice<UInt8>

    var nextTag: UInt8? { bytes.first }

    mutating func read(tag: UInt8) -> (whole: ArraySlice<UInt8>, contents: ArraySlice<UInt8>)? {
      guard bytes.count >= 2, bytes.first == tag else { return nil }
      let first = bytes[bytes.startIndex + 1]
      var size = Int(first)
      var start = bytes.startIndex + 2
      if first >= 0x80 {
        let digits = Int(first & 0x7F)
        guard (1...3).contains(digits), bytes.count >= 2 + digits else { return nil }
        size = bytes[start..<start + digits].reduce(0) { $0 << 8 | Int($1) }
        start += digits
      }
      guard size <= bytes.endIndex - start else { return nil }
      let end = start + size
      defer { bytes = bytes[end...] }
      return (bytes[..<end], bytes[start..<end])
    }
  }
}

extension ArraySlice<UInt8> {
  fileprivate var reader: DERCertificate.Reader { .init(bytes: self) }
}
