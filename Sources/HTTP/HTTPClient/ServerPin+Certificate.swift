package import Foundation

#if canImport(CryptoKit)
  import CryptoKit
#else
  import Crypto
#endif

extension ServerPin {
  /// Whether a certificate in DER format contains the pinned key.
  package func matches(certificate: Data) -> Bool {
    DERCertificate.publicKeyInfo(of: certificate).map { Data(SHA256.hash(data: $0)) == digest } ?? false
  }
}
