package import HTTPTLS

/// The settings of HTTPS. Without a certificate, the server speaks plain HTTP.
package struct TLSSettings: Sendable, Hashable {
  /// PEM files with a certificate and its issuers. A client gets the one for the name that it asks for.
  package var certificates: [String] = []
  /// PEM files with the keys of the certificates, in the same order.
  package var keys: [String] = []
  /// DER files with OCSP responses about the certificates, in the same order; or none.
  package var staples: [String] = []
  /// A PEM file with the authorities whose certificates identify clients.
  package var clientAuthorities: String?
  /// Whether the server makes a certificate of its own, which clients must pin.
  package var selfSigned = false
  /// The port for plain HTTP, which redirects to HTTPS; 0 selects a free one, `nil` opens none.
  package var httpPort: Int?
  /// The folder below which the files of the ACME protocol are served on that port.
  package var acmeFolder: String?
  /// How many seconds browsers use only HTTPS for this host after a visit (RFC 6797); `nil` does not tell them.
  package var strictTransportSeconds: Int64? = 365 * 86_400

  /// Creates the default settings.
  package init() {}

  /// Whether the server speaks HTTPS.
  package var isEnabled: Bool { selfSigned || !certificates.isEmpty }

  /// Checks that the settings fit each other. The files are not read.
  package func validate() throws(TLSError) {
    if selfSigned, !certificates.isEmpty {
      throw TLSError("A certificate and a self-signed certificate exclude each other.")
    }
    guard certificates.count == keys.count else {
      throw TLSError(
        "There are \(certificates.count) certificates and \(keys.count) keys; each certificate needs its key."
      )
    }
    guard staples.isEmpty || staples.count == certificates.count else {
      throw TLSError(
        "There are \(certificates.count) certificates and \(staples.count) OCSP responses; give one each, or none."
      )
    }
    if !isEnabled, clientAuthorities != nil {
      throw TLSError("Certificates of clients are received only with a certificate of the server.")
    }
    if !isEnabled, httpPort != nil {
      throw TLSError("The port for HTTP redirects to HTTPS, for which the server has no certificate.")
    }
    if httpPort == nil, acmeFolder != nil {
      throw TLSError("The folder for ACME is served on the port for HTTP, which is not set.")
    }
  }

  /// The files in the form of the TLS layer.
  package var configuration: TLSConfiguration {
    let files = certificates.indices.map { index in
      TLSFiles(
        certificate: certificates[index], key: keys[index], staple: staples.isEmpty ? nil : staples[index])
    }
    return TLSConfiguration(files: files, clientAuthorities: clientAuthorities)
  }
}

extension ServerSettings {
  /// The source of the certificates; `nil` without HTTPS. It makes and renews a self-signed certificate.
  ///
  /// - Throws: ``/HTTPTLS/TLSError`` if the settings do not fit each other.
  package func certificateSource() throws(TLSError) -> ServerCertificates.Source? {
    try tls.validate()
    guard let configuration = tlsConfiguration else { return nil }
    let (isSelfSigned, storage, host) = (tls.selfSigned, storage, host)
    return { () throws(TLSError) in
      if isSelfSigned { try SelfSignedFiles(storage: storage).prepare(host: host) }
      return configuration
    }
  }

  /// The files of HTTPS; `nil` without HTTPS. Those of a self-signed certificate need not exist yet.
  package var tlsConfiguration: TLSConfiguration? {
    guard tls.isEnabled else { return nil }
    var configuration = tls.configuration
    if tls.selfSigned { configuration.files = [SelfSignedFiles(storage: storage).files] }
    return configuration
  }
}
