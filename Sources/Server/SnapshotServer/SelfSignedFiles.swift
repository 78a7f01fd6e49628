import Foundation
import HTTPTLS
import SystemIO

/// The self-signed certificate of a server, in its storage folder. The key remains the same when the certificate is
/// renewed, so that clients that pin the key go on.
struct SelfSignedFiles {
  /// A certificate that expires within this time is renewed.
  private static let renewal: TimeInterval = 60 * 86_400

  private let folder: URL
  private var certificate: URL { folder.appending(path: "self-signed.pem") }
  private var key: URL { folder.appending(path: "self-signed.key") }

  /// - Parameter storage: the storage folder, which exists.
  init(storage: String) { folder = URL(filePath: storage).appending(path: "tls") }

  /// The certificate and its key, which need not exist yet.
  var files: TLSFiles { TLSFiles(certificate: certificate.path, key: key.path) }

  /// Makes or renews the certificate if necessary.
  /// - Parameter host: the address that the server listens on.
  func prepare(host: String, now: Date = Date()) throws(TLSError) {
    if isUsable(files, at: now), isUsable(files, at: now + Self.renewal) { return }
    let known = try knownKey()
    let made = try SelfSignedCertificate.make(names: names(host), key: known, now: now)
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      if known == nil { try write(made.key, to: key, mode: 0o600) }
      try write(made.certificate, to: certificate, mode: 0o644)
    } catch {
      throw TLSError("The self-signed certificate can't be written to \(folder.path): \(error)")
    }
  }

  /// The key that the storage has; `nil` if there is none. A key that can't be read is not replaced: clients pin it.
  private func knownKey() throws(TLSError) -> [UInt8]? {
    do {
      return try NamedFile.read(key.path, limit: TLSConfiguration.maximumFileBytes)
    } catch .missing {
      return nil
    } catch {
      throw TLSError("\(key.path) with the key of the self-signed certificate can't be read: \(error).")
    }
  }

  private func isUsable(_ files: TLSFiles, at time: Date) -> Bool {
    do {
      _ = try TLSServer(TLSConfiguration(files: [files]), now: { time })
      return true
    } catch {
      return false
    }
  }

  private func write(_ bytes: [UInt8], to file: URL, mode: Int) throws {
    try Data(bytes).write(to: file, options: .atomic)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
  }

  private func names(_ host: String) -> [String] {
    let machine = ProcessInfo.processInfo.hostName
    var names = [
      machine, machine.contains(".") ? "localhost" : machine + ".local", "localhost", "127.0.0.1", "::1",
    ]
    if IPAddress(host) != nil, host != "0.0.0.0", host != "::" { names.append(host) }
    var seen: Set<String> = []
    return names.filter { !$0.isEmpty && seen.insert($0).inserted }
  }
}
