import Foundation
import HTTPEngine
import HTTPTLS
import HTTPClient
import Logging
import SnapshotClient
import SnapshotServer
import SystemIO
import TestSupport
import Testing

/// HTTPS of `snapshot serve`, and of the command as its client.
@Suite(
  .enabled(if: Tool.find("openssl") != nil, "openssl isn't installed"),
  .timeLimit(.minutes(5 * Sanitizer.slowness)))
struct ServeTLSTests {
  private static let silent = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

  private func files(in storage: URL) -> TLSFiles {
    TLSFiles(
      certificate: storage.appending(path: "tls/self-signed.pem").path,
      key: storage.appending(path: "tls/self-signed.key").path)
  }

  private func pin(of files: TLSFiles) throws -> String {
    try #require(try TLSServer(TLSConfiguration(files: [files])).pins.first).description
  }

  @Test func `a self-signed certificate is kept, and a client needs its pin`() async throws {
    let folder = try TemporaryFolder()
    let storage = folder.file("storage")
    var pins: Set<String> = []
    for _ in 0..<2 {
      let server = try await TestServer(storage: storage, ["--tls-self-signed"])
      #expect(server.url.scheme == "https")
      let pin = try pin(of: files(in: storage))
      pins.insert(pin)
      let trusted = try await Product.run(["list", "--server", server.url.absoluteString, "--pin", pin])
      #expect(trusted.status == 0, "\(trusted.errors)")
      let other = "sha256//" + Data(count: 32).base64EncodedString()
      for arguments in [[], ["--pin", other]] {
        let refused = try await Product.run(["list", "--server", server.url.absoluteString] + arguments)
        #expect(refused.status != 0)
        #expect(refused.errors.contains("certificate is not trusted"), "\(refused.errors)")
      }
      let client = try SnapshotAPIClient(server: server.url, pin: try #require(ServerPin(pin)))
      _ = try await client.page()
      await server.program.stop()
    }
    #expect(pins.count == 1)
    let attributes = try FileManager.default.attributesOfItem(atPath: files(in: storage).key)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test func `a pin is the digest of the key in the certificate`() async throws {
    let folder = try TemporaryFolder()
    let maker = try CertificateMaker()
    for kind in [CertificateMaker.Kind.ecdsa, .rsa] {
      let pair = try await maker.make("localhost", as: "server", kind: kind)
      let der = folder.file("server.der")
      try await maker.run(["x509", "-in", pair.certificate, "-outform", "DER", "-out", der.path])
      let text = try pin(of: TLSFiles(certificate: pair.certificate, key: pair.key))
      let pin = try #require(ServerPin(text))
      let certificate = try Data(contentsOf: der)
      #expect(pin.matches(certificate: certificate))
      // No part of a certificate is read beyond its end.
      for count in 0..<certificate.count {
        #expect(!pin.matches(certificate: certificate.prefix(count)) || count > 400)
      }
      let other = try await maker.make("localhost", as: "other", kind: kind)
      try await maker.run(["x509", "-in", other.certificate, "-outform", "DER", "-out", der.path])
      #expect(!pin.matches(certificate: try Data(contentsOf: der)))
    }
  }

  @Test func `a pin has 32 bytes, and needs https`() throws {
    let digest = Data(repeating: 7, count: 32).base64EncodedString()
    #expect(ServerPin(digest)?.description == "sha256//" + digest)
    #expect(ServerPin("sha256//" + digest) == ServerPin(digest))
    for text in ["", "sha256//", "sha1//" + digest, String(digest.dropLast(4)), "sha256//!"] {
      #expect(ServerPin(text) == nil)
    }
    let pin = try #require(ServerPin(digest))
    let plain = try #require(URL(string: "http://localhost:1"))
    #expect(throws: SnapshotClientError.self) { try SnapshotAPIClient(server: plain, pin: pin) }
  }

  @Test func `a client accepts a certificate of an authority in a file`() async throws {
    let maker = try CertificateMaker()
    let root = try await maker.make("Root", as: "root", isAuthority: true)
    let pair = try await maker.make("localhost", as: "server", issuer: root)
    let server = try await TestServer(
      storage: maker.folder.file("storage"),
      ["--tls-certificate", pair.certificate, "--tls-key", pair.key, "--host", "localhost"])
    let port = try #require(server.url.port)
    let address = "https://localhost:\(port)"
    let trusted = try await Product.run(["list", "--server", address, "--ca-file", root.certificate])
    #expect(trusted.status == 0, "\(trusted.errors)")
    #expect(try await Product.run(["list", "--server", address]).status != 0)
    await server.program.stop()
  }

  @Test(arguments: [
    (["--tls-certificate", "a.pem"], "each certificate needs its key"),
    (["--tls-certificate", "a.pem", "--tls-key", "a.key"], "There is no file a.pem with certificates."),
    (["--tls-self-signed", "--tls-certificate", "a.pem", "--tls-key", "a.key"], "exclude each other"),
    (["--http-port", "0"], "the server has no certificate"),
    (["--tls-self-signed", "--acme-folder", "acme"], "is not set"),
    (["--tls-client-ca", "a.pem"], "only with a certificate of the server"),
    (["--tls-self-signed", "--tls-client-ca", "a.pem"], "There is no file a.pem with certificates."),
  ]) func `settings that do not fit are refused with a sentence`(arguments: [String], sentence: String)
    async throws
  {
    let folder = try TemporaryFolder()
    let outcome = try await Product.run(
      ["serve", "--port", "0", "--storage", folder.file("storage").path] + arguments, folder: folder.url)
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains(sentence), "\(outcome.errors)")
    #expect(outcome.output.isEmpty)
  }

  // MARK: New certificates

  private func commonName(_ port: UInt16) async throws -> String? {
    try await RawHTTPClient.run { try RawHTTPClient(port: port, tls: .init()).session?.serverCommonName }
  }

  @Test func `SIGHUP makes the server read its certificate again, and connections continue`() async throws {
    let maker = try CertificateMaker()
    let pair = try await maker.make("first.test", as: "server")
    let server = try await TestServer(
      storage: maker.folder.file("storage"), ["--tls-certificate", pair.certificate, "--tls-key", pair.key])
    let port = UInt16(try #require(server.url.port))
    let client = try await RawHTTPClient.run { try RawHTTPClient(port: port, tls: .init()) }
    _ = try await maker.make("second.test", as: "server")
    var name = try await commonName(port)
    for _ in 0..<1000 where name != "second.test" {
      kill(server.program.identifier, SIGHUP)
      name = try await commonName(port)
    }
    #expect(name == "second.test")
    try await RawHTTPClient.run {
      try client.send("GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")
      #expect(try client.receiveResponse().status == 200)
    }
    await server.program.stop()
  }

  @Test func `a changed file is read again, and one that does not fit is not used`() async throws {
    let maker = try CertificateMaker()
    let pair = try await maker.make("first.test", as: "server")
    let files = TLSFiles(certificate: pair.certificate, key: pair.key)
    let isRead = Signal()
    let logger = Logger(label: "test") { _ in ReloadLog(signal: isRead) }
    let certificates = try ServerCertificates({ TLSConfiguration(files: [files]) }, logger: logger)
    let tls = certificates.tls
    let first = tls.pins
    let task = Task { await certificates.run(every: .milliseconds(5)) }
    let other = try await maker.make("other.test", as: "other")
    try Data(contentsOf: URL(filePath: other.certificate)).write(to: URL(filePath: pair.certificate))
    certificates.reloadIfChanged()
    #expect(tls.pins == first)
    try Data(contentsOf: URL(filePath: other.key)).write(to: URL(filePath: pair.key))
    await isRead.wait()
    #expect(tls.pins != first)
    task.cancel()
    await task.value
  }

  // MARK: Plain HTTP beside HTTPS

  @Test func `plain HTTP is redirected, except for the files of ACME`() async throws {
    let folder = try TemporaryFolder()
    var settings = ServerSettings(port: 0, storage: folder.file("storage").path)
    settings.tls.selfSigned = true
    settings.tls.httpPort = 0
    settings.tls.acmeFolder = folder.path
    try folder.write(Data("token.thumbprint".utf8), to: ".well-known/acme-challenge/token_1-A")
    try folder.write(Data(count: 5000), to: ".well-known/acme-challenge/large")
    try folder.write(Data("secret".utf8), to: "secret")
    let application = try await ServerApplication.open(settings, version: "1", logger: Self.silent)
    let secure = try await application.start().port
    let plain = try #require(application.httpAddress).port
    try await RawHTTPClient.run {
      func answer(_ line: String, host: String = "example.com") throws -> RawHTTPClient.Response {
        let client = try RawHTTPClient(port: plain, tls: nil)
        try client.send("\(line) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        return try client.receiveResponse(toHEAD: line.hasPrefix("HEAD"))
      }
      for (host, name) in [
        ("example.com:80", "example.com"), ("[::1]:8080", "[::1]"), ("10.0.0.1", "10.0.0.1"),
      ] {
        for method in ["GET", "POST"] {
          let response = try answer("\(method) /a%20b?c=d", host: host)
          #expect(response.status == 308)
          #expect(response.field("Location") == "https://\(name):\(secure)/a%20b?c=d")
        }
      }
      let challenge = "/.well-known/acme-challenge/"
      #expect(try answer("GET " + challenge + "token_1-A").text == "token.thumbprint")
      #expect(try answer("HEAD " + challenge + "token_1-A").status == 200)
      for name in ["", "missing", "large", "../../secret", "..%2F..%2Fsecret", ".", "a/b"] {
        #expect(try answer("GET " + challenge + name).status == 404, "\(name)")
      }
      #expect(try answer("POST " + challenge + "token_1-A").status == 405)
    }
    await application.close()
  }

  @Test func `browsers are told to use HTTPS only, except on loopback`() async throws {
    let maker = try CertificateMaker()
    let pair = try await maker.make("localhost", as: "server")
    var settings = ServerSettings(port: 0, storage: maker.folder.file("storage").path)
    settings.insecure = true
    (settings.tls.certificates, settings.tls.keys) = ([pair.certificate], [pair.key])
    let application = try await ServerApplication.open(settings, version: "1", logger: Self.silent)
    let port = try await application.start().port
    try await RawHTTPClient.run {
      for (host, value) in [("snapshots.test", "max-age=31536000"), ("localhost", nil)] {
        let client = try RawHTTPClient(port: port, tls: .init())
        try client.send("GET /readyz HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        #expect(try client.receiveResponse().field("Strict-Transport-Security") == value)
      }
    }
    await application.close()
  }

  // MARK: Client certificates

  @Test func `a certificate whose name is a token's id has the token's scopes`() async throws {
    let maker = try CertificateMaker()
    let authority = try await maker.make("Authority", as: "authority", isAuthority: true)
    let pair = try await maker.make("localhost", as: "server")
    let storage = maker.folder.file("storage")
    let created = try await Product.run(
      ["token", "create", "--scope", "read", "--storage", storage.path])
    try #require(created.status == 0, "\(created.errors)")
    let listed = try await Product.run(["token", "list", "--storage", storage.path])
    let id = try #require(listed.lines.last?.split(separator: " ").first.map(String.init))
    let known = try await maker.make(id, as: "known", issuer: authority)
    let unknown = try await maker.make("nobody", as: "unknown", issuer: authority)
    let server = try await TestServer(
      storage: storage,
      [
        "--tls-certificate", pair.certificate, "--tls-key", pair.key, "--tls-client-ca",
        authority.certificate,
      ])
    let port = UInt16(try #require(server.url.port))
    func status(_ line: String, _ client: CertificateMaker.Pair?, fields: String = "") async throws -> Int {
      try await RawHTTPClient.run {
        var settings = TLSClientSession.Settings()
        settings.certificate = client.map { ($0.certificate, $0.key) }
        let connection = try RawHTTPClient(port: port, tls: settings)
        try connection.send("\(line) HTTP/1.1\r\nHost: localhost:\(port)\r\n\(fields)\r\n")
        return try connection.receiveResponse().status
      }
    }
    let list = "GET /v1/snapshots"
    #expect(try await status(list, nil) == 401)
    #expect(try await status(list, known) == 200)
    #expect(try await status(list, unknown) == 401)
    let delete = "DELETE /v1/snapshots/0d3ba7e2-5a8c-4d6e-9f3b-2f1e0c9d8b7a"
    #expect(try await status(delete, known) == 403)
    #expect(try await status(delete, known, fields: "Sec-Fetch-Site: cross-site\r\n") == 403)
    _ = try await Product.run(["token", "revoke", id, "--storage", storage.path])
    #expect(try await status(list, known) == 401)
    await server.program.stop()
  }
}

/// Fires a signal when certificates were read again.
private struct ReloadLog: LogHandler {
  let signal: Signal
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.notice

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    if event.level == .notice { signal.fire() }
  }
}
