#if canImport(Darwin)
  import Foundation
  import Security

  extension URLAuthenticationChallenge {
    /// The answer to the challenge.
    /// - Parameter trust: how servers are recognized.
    func answer(_ trust: ServerTrust) -> (URLSession.AuthChallengeDisposition, URLCredential?) {
      guard case .pinned(let pin) = trust, let server = protectionSpace.serverTrust else {
        return (.performDefaultHandling, nil)
      }
      let chain = SecTrustCopyCertificateChain(server) as? [SecCertificate]
      guard let certificate = chain?.first,
        pin.matches(certificate: SecCertificateCopyData(certificate) as Data)
      else {
        return (.cancelAuthenticationChallenge, nil)
      }
      return (.useCredential, URLCredential(trust: server))
    }
  }
#endif
