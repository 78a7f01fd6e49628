#if canImport(Darwin)
  import Foundation
  import Security

  extension URLAuthenticationChallenge {
    /// The answer to the challenge.
    /// - Parameter recognizes: decides whether a server is the right one by its certificate in DER format; `nil` leaves
    ///   that to the system.
    func answer(
      _ recognizes: (@Sendable (Data) -> Bool)?
    ) -> (URLSession.AuthChallengeDisposition, URLCredential?) {
      guard let recognizes, let trust = protectionSpace.serverTrust else {
        return (.performDefaultHandling, nil)
      }
      let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate]
      guard let certificate = chain?.first, recognizes(SecCertificateCopyData(certificate) as Data) else {
        return (.cancelAuthenticationChallenge, nil)
      }
      return (.useCredential, URLCredential(trust: trust))
    }
  }
#endif
