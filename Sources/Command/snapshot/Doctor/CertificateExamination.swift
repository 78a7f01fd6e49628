import Foundation
import HTTPTLS
import SnapshotServer

/// Examines the certificates of a server that speaks HTTPS.
struct CertificateExamination {
  /// The remaining time in seconds below which there is a warning: three weeks. Authorities renew earlier.
  private static let renewal: TimeInterval = 21 * 86_400
  private static let topic = "certificate"

  let settings: ServerSettings
  var now = Date()

  /// The findings, and the pin of the first certificate if it can be used.
  func run() -> (findings: [Finding], pin: KeyPin?) {
    guard let configuration = settings.tlsConfiguration else { return ([], nil) }
    do {
      try settings.tls.validate()
      let pin = try TLSServer(configuration, now: { now }).pins.first
      return (
        [
          settings.tls.selfSigned
            ? .ok(Self.topic, "The certificate is self-signed.") : remaining(configuration)
        ], pin
      )
    } catch {
      let mend = "Correct the files or the settings below server.tls. The server does not start with them."
      return ([.error(Self.topic, error.description, mend: mend)], nil)
    }
  }

  /// Examines certificates that can be used now.
  private func remaining(_ configuration: TLSConfiguration) -> Finding {
    do {
      _ = try TLSServer(configuration, now: { now + Self.renewal })
      return .ok(Self.topic, "The certificates fit their keys, and are valid for three more weeks.")
    } catch {
      return .warning(
        Self.topic, "In three weeks the server could not start: \(error.description)",
        mend: "Renew the certificate. A running server notices the new file.")
    }
  }
}
