import HTTPTransport

#if canImport(FoundationNetworking)
  import Foundation
  import FoundationNetworking
#else
  import Foundation
#endif

extension TransportError {
  /// What an error of the session means.
  init(_ error: any Error) {
    let text = error.localizedDescription
    switch (error as? URLError)?.code {
    case .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet,
      .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
      .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
      .clientCertificateRequired, .internationalRoamingOff, .dataNotAllowed,
      .appTransportSecurityRequiresSecureConnection:
      self = .connectionFailed(text)
    case .badURL:
      self = .invalidRequest(text)
    case .timedOut:
      self = .timedOut
    case .cancelled:
      self = .cancelled
    case .fileDoesNotExist, .fileIsDirectory, .noPermissionsToReadFile:
      self = .file(text)
    default:
      self = .interrupted(text)
    }
  }
}
