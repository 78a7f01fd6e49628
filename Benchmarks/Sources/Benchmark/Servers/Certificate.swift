import Foundation

/// An ECDSA certificate (P-256) with its key, for servers with TLS.
enum Certificate {
  /// Writes a new certificate and its key to one PEM file, and returns its path.
  static func write(to folder: String) throws -> String {
    let (certificate, key, both) = ("\(folder)/certificate", "\(folder)/key", "\(folder)/server.pem")
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
      "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "30", "-out", certificate,
      "-keyout",
      key,
    ]
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure("openssl can't make a certificate") }
    let data = try Data(contentsOf: URL(filePath: certificate)) + Data(contentsOf: URL(filePath: key))
    try data.write(to: URL(filePath: both))
    return both
  }
}
