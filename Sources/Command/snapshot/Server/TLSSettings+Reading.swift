import Foundation
import SnapshotFormat
import SnapshotServer
import SnapshotStore

extension TLSSettings {
  /// Every setting below `server.tls`.
  static let settings: [Setting<TLSSettings>] = [
    .init(name: "certificate", wanted: "PEM files, separated by commas", reloads: true) {
      $0.certificates = paths($1); return true
    },
    .init(name: "key", wanted: "PEM files, separated by commas", reloads: true) {
      $0.keys = paths($1); return true
    },
    .init(name: "ocsp", wanted: "DER files, separated by commas", reloads: true) {
      $0.staples = paths($1); return true
    },
    .init(name: "clientAuthorities", wanted: "a PEM file", reloads: true) {
      $0.clientAuthorities = $1.isEmpty ? nil : $1
      return true
    },
    .init(name: "selfSigned", wanted: "true or false") { settings, text in
      guard let value = Bool(text) else { return false }
      settings.selfSigned = value
      return true
    },
    .init(name: "httpPort", wanted: "‘none’, or a port from 0 to 65535") { settings, text in
      settings.httpPort = Int(text)
      return text == "none" || settings.httpPort.map { (0...65535).contains($0) } ?? false
    },
    .init(name: "acmeFolder", wanted: "a folder") {
      $0.acmeFolder = $1.isEmpty ? nil : $1
      return true
    },
    .init(name: "strictTransport", wanted: "‘never’, or a duration such as 365d") { settings, text in
      settings.strictTransportSeconds = TimeSpan(text).map { Int64($0.seconds) }
      return text == "never" || settings.strictTransportSeconds != nil
    },
  ]

  private static func paths(_ text: String) -> [String] {
    text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
  }
}
