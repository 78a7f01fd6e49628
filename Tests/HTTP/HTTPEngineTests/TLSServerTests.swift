import Foundation
import HTTPEngine
import HTTPTLS
import HTTPTypes
import SystemIO
import TestSupport
import Testing

/// What TLS adds to a connection. All other behaviour is tested by the suites that also run over TLS.
@Suite(
  .enabled(if: Tool.find("openssl") != nil, "openssl isn't installed"),
  .timeLimit(.minutes(5 * Sanitizer.slowness)))
struct TLSServerTests {
  private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

  private func withTLS<Result: Sendable>(
    _ files: [TLSFiles], clientAuthorities: String? = nil, now: @escaping @Sendable () -> Date = { Date() },
    configure: (inout HTTPServer.Configuration) -> Void = { _ in },
    handler: @escaping @Sendable (HTTPServerRequest) async throws -> HTTPServerResponse = echo,
    _ body: (TLSServer, UInt16) async throws -> Result
  ) async throws -> Result {
    let tls = try TLSServer(TLSConfiguration(files: files, clientAuthorities: clientAuthorities), now: now)
    return try await withServer(
      configure: {
        $0.security = tls
        configure(&$0)
      }, handler: handler
    ) { _, port in try await body(tls, port) }
  }

  private func connect(
    _ port: UInt16, _ change: @escaping @Sendable (inout TLSClientSession.Settings) -> Void = { _ in }
  ) async throws -> TLSClientSession {
    try await RawHTTPClient.run {
      var settings = TLSClientSession.Settings()
      change(&settings)
      let client = try RawHTTPClient(port: port, tls: settings)
      try client.send(Self.get)
      #expect(try client.receiveResponse().text == "GET /")
      guard let session = client.session else { throw CocoaError(.coderInvalidValue) }
      return session
    }
  }

  private func files(_ pair: CertificateMaker.Pair) -> TLSFiles {
    TLSFiles(certificate: pair.certificate, key: pair.key)
  }

  // MARK: Agreement

  @Test(arguments: [CertificateMaker.Kind.ecdsa, .rsa], [2, 3])
  func `TLS 1.2 and 1.3 protect requests`(kind: CertificateMaker.Kind, version: Int) async throws {
    let maker = try CertificateMaker()
    let pair = try await maker.make("localhost", as: "server", kind: kind)
    try await withTLS([files(pair)]) { _, port in
      let session = try await connect(port) { $0.version = version }
      #expect(session.version == "TLSv1.\(version)")
      #expect(session.cipher.contains("GCM"))
    }
  }

  @Test func `a client gets the kind of certificate that it supports`() async throws {
    let maker = try CertificateMaker()
    let both = [
      files(try await maker.make("localhost", as: "ecdsa")),
      files(try await maker.make("localhost", as: "rsa", kind: .rsa)),
    ]
    try await withTLS(both) { _, port in
      for name in ["ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256"] {
        let session = try await connect(port) { ($0.version, $0.ciphers) = (2, name) }
        #expect(session.cipher == name)
      }
    }
  }

  @Test(arguments: ["AES128-SHA", "ECDHE-ECDSA-AES128-SHA", "AES128-GCM-SHA256"])
  func `weak ciphers are refused`(cipher: String) async throws {
    let maker = try CertificateMaker()
    let pair = files(try await maker.make("localhost", as: "server"))
    try await withTLS([pair]) { _, port in
      _ = await #expect(throws: RawHTTPClient.Failure.self) {
        try await connect(port) { ($0.version, $0.ciphers) = (2, cipher) }
      }
    }
  }

  @Test func `the name that a client asks for selects the certificate`() async throws {
    let maker = try CertificateMaker()
    let all = [
      files(try await maker.make("one.test", as: "one")),
      files(try await maker.make("two.test", as: "two", names: ["two.test", "other.test"])),
      files(try await maker.make("many.test", as: "many", kind: .rsa, names: ["*.many.test"])),
    ]
    try await withTLS(all) { _, port in
      for (name, expected) in [
        ("one.test", "one.test"), ("OTHER.test", "two.test"), ("a.many.test", "many.test"),
        ("a.b.many.test", "one.test"), ("many.test", "one.test"), ("unknown.test", "one.test"),
      ] {
        for version in [2, 3] {
          let session = try await connect(port) { ($0.serverName, $0.version) = (name, version) }
          #expect(session.serverCommonName == expected, "\(name)")
        }
      }
    }
  }

  @Test func `of certificates with the same name the first one is used, and one kind has one`() async throws {
    let maker = try CertificateMaker()
    let one = files(try await maker.make("one.test", as: "one", names: ["one.test", "a.test", "*.b.test"]))
    let two = files(try await maker.make("two.test", as: "two", names: ["two.test", "a.test", "*.b.test"]))
    try await withTLS([one, two]) { _, port in
      for (name, expected) in [("a.test", "one.test"), ("x.b.test", "one.test"), ("two.test", "two.test")] {
        let session = try await connect(port) { $0.serverName = name }
        #expect(session.serverCommonName == expected, "\(name)")
      }
    }
    let again = files(
      try await maker.make("one.test", as: "again", names: ["one.test", "a.test", "*.b.test"]))
    let refusal = TLSError(
      "\(again.certificate) is a second certificate of the same kind for one.test, a.test, *.b.test.")
    #expect(throws: refusal) { try TLSServer(TLSConfiguration(files: [one, two, again])) }
  }

  @Test func `the protocol is http 1.1, and a client without it is refused`() async throws {
    let pair = try TestCertificate.shared.get().files
    try await withTLS([pair]) { _, port in
      let session = try await connect(port) { $0.protocols = ["h2", "http/1.1"] }
      #expect(session.chosenProtocol == "http/1.1")
      #expect(try await connect(port).chosenProtocol == nil)
      await #expect(throws: RawHTTPClient.Failure.self) {
        try await connect(port) { $0.protocols = ["h2"] }
      }
    }
  }

  @Test(arguments: [2, 3]) func `a session is resumed, also with new certificates`(version: Int) async throws
  {
    let maker = try CertificateMaker()
    let pair = files(try await maker.make("localhost", as: "server"))
    try await withTLS([pair]) { tls, port in
      let first = try await connect(port) { $0.version = version }
      #expect(!first.isResumed)
      let ticket = try #require(first.ticket)
      #expect(try await connect(port) { ($0.version, $0.resumed) = (version, ticket) }.isResumed)
      try tls.prepareReload(TLSConfiguration(files: [pair]))()
      #expect(try await connect(port) { ($0.version, $0.resumed) = (version, ticket) }.isResumed)
    }
  }

  // MARK: Client certificates

  @Test func `a client can prove its identity, and one of another authority is refused`() async throws {
    let maker = try CertificateMaker()
    let authority = try await maker.make("Authority", as: "authority", isAuthority: true)
    let other = try await maker.make("Other", as: "other", isAuthority: true)
    let known = try await maker.make("robot", as: "known", issuer: authority)
    let unknown = try await maker.make("robot", as: "unknown", issuer: other)
    let pair = files(try await maker.make("localhost", as: "server"))
    let seen = Lock<[String?]>([])
    try await withTLS(
      [pair], clientAuthorities: authority.certificate,
      handler: { request in
        #expect(request.isSecure)
        let certificate = request.clientCertificate
        #expect(certificate.map { $0.fingerprint.count == 64 } ?? true)
        seen.withLock { $0.append(certificate?.commonName) }
        return try await echo(request)
      }
    ) { _, port in
      _ = try await connect(port)
      for version in [2, 3] {
        let session = try await connect(port) {
          ($0.version, $0.certificate) = (version, (known.certificate, known.key))
        }
        // A resumed session has the same certificate.
        let ticket = try #require(session.ticket)
        #expect(try await connect(port) { ($0.version, $0.resumed) = (version, ticket) }.isResumed)
        await #expect(throws: RawHTTPClient.Failure.self) {
          try await connect(port) {
            ($0.version, $0.certificate) = (version, (unknown.certificate, unknown.key))
          }
        }
      }
    }
    #expect(seen.withLock { $0 } == [nil, "robot", "robot", "robot", "robot"])
  }

  @Test(arguments: [2, 3])
  func `a session does not resume after its client's authority was removed`(version: Int) async throws {
    let maker = try CertificateMaker()
    let authority = try await maker.make("Authority", as: "authority", isAuthority: true)
    let other = try await maker.make("Other", as: "other", isAuthority: true)
    let known = try await maker.make("robot", as: "known", issuer: authority)
    let pair = files(try await maker.make("localhost", as: "server"))
    let seen = Lock<[String?]>([])
    try await withTLS(
      [pair], clientAuthorities: authority.certificate,
      handler: { request in
        let name = request.clientCertificate?.commonName
        seen.withLock { $0.append(name) }
        return try await echo(request)
      }
    ) { tls, port in
      let session = try await connect(port) {
        ($0.version, $0.certificate) = (version, (known.certificate, known.key))
      }
      let ticket = try #require(session.ticket)
      func resume() async throws -> Bool {
        try await connect(port) { ($0.version, $0.resumed) = (version, ticket) }.isResumed
      }
      #expect(try await resume())
      try tls.prepareReload(TLSConfiguration(files: [pair], clientAuthorities: other.certificate))()
      #expect(try await !resume())
      try tls.prepareReload(TLSConfiguration(files: [pair]))()
      #expect(try await !resume())
      try tls.prepareReload(TLSConfiguration(files: [pair], clientAuthorities: authority.certificate))()
      #expect(try await resume())
    }
    #expect(seen.withLock { $0 } == ["robot", "robot", nil, nil, "robot"])
  }

  // MARK: Files

  @Test func `new files are used for new connections, and open ones continue`() async throws {
    let maker = try CertificateMaker()
    let pair = files(try await maker.make("first.test", as: "server"))
    try await withTLS([pair]) { tls, port in
      let client = try await RawHTTPClient.run { try RawHTTPClient(port: port, tls: .init()) }
      _ = try await maker.make("second.test", as: "server")
      let apply = try tls.prepareReload(TLSConfiguration(files: [pair]))
      #expect(try await connect(port).serverCommonName == "first.test")
      apply()
      #expect(try await connect(port).serverCommonName == "second.test")
      // A key of another certificate is refused, and the former pair stays.
      _ = try await maker.make("third.test", as: "third")
      try FileManager.default.removeItem(atPath: pair.certificate)
      try FileManager.default.copyItem(
        atPath: maker.folder.file("third.pem").path, toPath: pair.certificate)
      #expect(throws: TLSError.self) { try tls.prepareReload(TLSConfiguration(files: [pair]))() }
      #expect(try await connect(port).serverCommonName == "second.test")
      try await RawHTTPClient.run {
        try client.send(Self.get)
        #expect(try client.receiveResponse().status == 200)
        #expect(client.session?.serverCommonName == "first.test")
      }
    }
  }

  @Test func `files that can't be used are refused with a sentence`() async throws {
    let maker = try CertificateMaker()
    let root = try await maker.make("Root", as: "root", isAuthority: true)
    let middle = try await maker.make("Middle", as: "middle", isAuthority: true, issuer: root)
    let server = try await maker.make("localhost", as: "server", issuer: middle)
    let other = try await maker.make("localhost", as: "other")
    let missing = maker.folder.file("missing").path
    let garbage = try maker.folder.write(Data("garbage".utf8), to: "garbage").path
    let broken = try maker.folder.write(
      Data("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8), to: "broken"
    ).path
    let locked = maker.folder.file("locked").path
    try await maker.run(["ec", "-in", server.key, "-aes128", "-passout", "pass:secret", "-out", locked])
    let short = try await maker.make("localhost", as: "short", kind: .shortRSA)
    let edwards = try await maker.make("localhost", as: "edwards", kind: .ed25519)
    let chain = try maker.join([server.certificate, middle.certificate, root.certificate], as: "chain")
    let mixed = try maker.join([server.certificate, root.certificate, middle.certificate], as: "mixed")

    func refusal(_ certificate: String, _ key: String, after seconds: Double = 0) -> String {
      do throws(TLSError) {
        _ = try TLSServer(
          TLSConfiguration(files: [TLSFiles(certificate: certificate, key: key)]),
          now: { Date() + seconds })
        return ""
      } catch {
        return error.description
      }
    }
    #expect(refusal(chain, server.key) == "")
    #expect(refusal(missing, server.key) == "There is no file \(missing) with certificates.")
    #expect(refusal(chain, missing) == "There is no file \(missing) with a private key.")
    #expect(refusal(garbage, server.key) == "\(garbage) contains no certificate in PEM format.")
    #expect(refusal(chain, garbage) == "\(garbage) contains no private key in PEM format.")
    #expect(refusal(broken, server.key) == "Certificate 1 in \(broken) is malformed.")
    #expect(
      refusal(chain, locked) == "The private key in \(locked) is encrypted; store it without a password.")
    #expect(refusal(chain, other.key).contains("does not belong to the first certificate in \(chain)"))
    #expect(
      refusal(mixed, server.key).hasPrefix("Certificate 2 in \(mixed) is not the issuer of certificate 1;"))
    #expect(refusal(short.certificate, short.key).contains("has 1024 bits; at least 2048"))
    #expect(refusal(edwards.certificate, edwards.key).contains("neither an RSA nor an ECDSA key"))
    #expect(refusal(chain, server.key, after: 40 * 86_400).hasPrefix("Certificate 1 in \(chain) expired at "))
    #expect(refusal(chain, server.key, after: -86_400).contains("is valid only from "))
  }

  @Test func `a stapled response is sent to clients that ask for it`() async throws {
    let maker = try CertificateMaker()
    let root = try await maker.make("Root", as: "root", isAuthority: true)
    let leaf = try await maker.make("localhost", as: "server", issuer: root)
    let chain = try maker.join([leaf.certificate, root.certificate], as: "chain")
    func staple(_ status: String) async throws -> String {
      let shown = try await Tool.run("openssl", ["x509", "-in", leaf.certificate, "-noout", "-serial"])
      let number = shown.text.split(separator: "=")[1].trimmingCharacters(in: .whitespacesAndNewlines)
      let revoked = status == "R" ? "200101000000Z" : ""
      let index = try maker.folder.write(
        Data("\(status)\t491231235959Z\t\(revoked)\t\(number)\tunknown\t/CN=localhost\n".utf8), to: "index")
      let path = maker.folder.file("staple-\(status)").path
      try await maker.run([
        "ocsp", "-index", index.path, "-CA", root.certificate, "-rsigner", root.certificate,
        "-rkey", root.key, "-issuer", root.certificate, "-cert", leaf.certificate, "-ndays", "3", "-respout",
        path,
      ])
      return path
    }
    let good = try await staple("V")
    try await withTLS([TLSFiles(certificate: chain, key: leaf.key, staple: good)]) { _, port in
      let expected = Array(try Data(contentsOf: URL(filePath: good)))
      for version in [2, 3] {
        let asking = try await connect(port) { ($0.version, $0.asksForStaple) = (version, true) }
        #expect(asking.staple == expected)
        #expect(try await connect(port) { $0.version = version }.staple == nil)
      }
    }
    // It is about one of two certificates.
    let other = try await maker.make("localhost", as: "other", kind: .rsa)
    let both = [TLSFiles(certificate: chain, key: leaf.key, staple: good), self.files(other)]
    try await withTLS(both) { _, port in
      for (cipher, isSent) in [
        ("ECDHE-ECDSA-AES128-GCM-SHA256", true), ("ECDHE-RSA-AES128-GCM-SHA256", false),
      ] {
        let session = try await connect(port) {
          ($0.version, $0.ciphers, $0.asksForStaple) = (2, cipher, true)
        }
        #expect((session.staple != nil) == isSent)
      }
    }
    // It is valid for three days.
    let later = Lock<TimeInterval>(0)
    let files = TLSFiles(certificate: chain, key: leaf.key, staple: good)
    try await withTLS([files], now: { Date() + later.withLock { $0 } }) { tls, port in
      for (days, isSent) in [(0.0, true), (2.9, true), (3.1, false)] {
        later.withLock { $0 = days * 86_400 }
        #expect((try await connect(port) { $0.asksForStaple = true }.staple != nil) == isSent, "\(days)")
      }
      #expect(throws: TLSError("The OCSP response in \(good) is out of date.")) {
        try tls.prepareReload(TLSConfiguration(files: [files]))
      }
      later.withLock { $0 = 60 }
      _ = try tls.prepareReload(TLSConfiguration(files: [files]))
    }
    let revoked = try await staple("R")
    let refusal = TLSError("The OCSP response in \(revoked) says that the certificate is revoked or unknown.")
    #expect(throws: refusal) {
      try TLSServer(
        TLSConfiguration(files: [TLSFiles(certificate: chain, key: leaf.key, staple: revoked)]))
    }
  }

  // MARK: Handshakes

  @Test func `plain HTTP gets 400 with a hint`() async throws {
    let pair = try TestCertificate.shared.get().files
    try await withTLS([pair]) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port, tls: nil)
        try client.send(Self.get)
        let response = try client.receiveResponse()
        #expect(response.status == 400)
        #expect(response.text.contains("HTTPS"))
        client.endSending()
        #expect(try client.receiveAll().isEmpty)
      }
    }
  }

  @Test func `a handshake that takes too long ends the connection`() async throws {
    let pair = try TestCertificate.shared.get().files
    try await withTLS([pair], configure: { $0.limits.handshakeTime = .milliseconds(500) }) { _, port in
      for start: [UInt8] in [[], [22], [22, 3, 1, 2, 0, 1]] {
        try await RawHTTPClient.run {
          let client = try RawHTTPClient(port: port, tls: nil)
          if !start.isEmpty { try client.send(start) }
          #expect(client.isClosedByPeer())
        }
      }
      _ = try await connect(port)
    }
  }

  @Test(arguments: [
    [UInt8](repeating: 0, count: 100), [UInt8](repeating: 0xFF, count: 70_000), [22, 3, 1, 0xFF, 0xFF],
    [22, 3, 1, 0, 4, 1, 0xFF, 0xFF, 0xFF], [23, 3, 3, 0, 2, 0, 0], [21, 3, 3, 0, 2, 2, 40],
    [22, 3, 1, 0, 5, 1, 0, 0, 1, 0], [20, 3, 3, 0, 1, 1],
  ]) func `a malformed handshake ends the connection`(bytes: [UInt8]) async throws {
    let pair = try TestCertificate.shared.get().files
    try await withTLS([pair]) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port, tls: nil)
        do { try client.send(bytes) } catch is RawHTTPClient.Failure {}
        client.endSending()
        do {
          let answer = try client.receiveAll()
          // An alert, and nothing else.
          #expect(answer.isEmpty || (answer.count == 7 && answer[0] == 21 && answer[5] == 2))
        } catch is RawHTTPClient.Failure {}
      }
      _ = try await connect(port)
    }
  }

  @Test func `hundreds of handshakes that stop half-way hold up no request, and nothing of them remains`()
    async throws
  {
    let pair = try TestCertificate.shared.get().files
    weak var stopped: TLSServer?
    try await withTLS([pair], configure: { $0.limits.connectionsPerAddress = 1000 }) { server, port in
      stopped = server
      try await RawHTTPClient.run {
        let honest = try RawHTTPClient(port: port, tls: .init())
        let slow = try (0..<300).map { _ in try RawHTTPClient(port: port, tls: nil) }
        for byte: [UInt8] in [[22], [3], [1], [2], [0], [1]] {
          for client in slow { try client.send(byte) }
          try honest.send(Self.get)
          #expect(try honest.receiveResponse().status == 200)
        }
      }
    }
    try await eventually { stopped == nil }
  }

  @Test func `the end of a connection is announced`() async throws {
    let pair = try TestCertificate.shared.get().files
    try await withTLS([pair]) { _, port in
      try await RawHTTPClient.run {
        var settings = TLSClientSession.Settings()
        settings.requiresEnd = true
        let client = try RawHTTPClient(port: port, tls: settings)
        try client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        _ = try client.receiveResponse()
        #expect(try client.receiveAll().isEmpty)
      }
    }
  }

  // MARK: The self-signed certificate

  @Test func `a self-signed certificate keeps its pin with the same key`() async throws {
    let folder = try TemporaryFolder()
    let first = try SelfSignedCertificate.make(names: ["localhost", "127.0.0.1", "::1"])
    let second = try SelfSignedCertificate.make(names: ["other.local"], key: first.key)
    #expect(first.certificate != second.certificate)
    var pins: Set<KeyPin> = []
    for (index, text) in [first, second].enumerated() {
      let files = TLSFiles(
        certificate: try folder.write(Data(text.certificate), to: "\(index).pem").path,
        key: try folder.write(Data(text.key), to: "\(index).key").path)
      try await withTLS([files]) { tls, port in
        _ = try await connect(port)
        pins.formUnion(tls.pins)
      }
    }
    #expect(pins.count == 1)
    #expect(pins.first?.description.hasPrefix("sha256//") == true)
    #expect(pins.first?.digest.count == 32)
  }
}
