import Foundation
import TestSupport
import Testing

/// Users whom a proxy names in requests to `snapshot serve`. Here, curl is the proxy at one address, and a client that
/// forges its fields at another.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct SignInByProxyTests {
  private let folder: TemporaryFolder
  private var storage: URL { folder.file("storage") }

  init() throws { folder = try TemporaryFolder() }

  private static let settings = """
    server:
      trustedUser:
        groups: Remote-Groups
        from: 127.0.0.1
        scopes: developers=read attach, leads=admin

    """

  private func serve(_ settings: String = settings) async throws -> TestServer {
    let file = try folder.write(Data(settings.utf8), to: "server.yaml")
    return try await TestServer(storage: storage, ["--config", file.path])
  }

  private static func user(_ name: String, _ groups: String) -> [String] {
    ["-H", "Remote-User: \(name)", "-H", "Remote-Groups: \(groups)"]
  }

  private func lines(_ name: String) throws -> [[String: Any]] {
    try String(contentsOf: storage.appending(path: name), encoding: .utf8).split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
  }

  @Test func `a user whom the proxy names has the scopes of the groups`() async throws {
    let server = try await serve()
    let list = server.address("/v1/snapshots")
    #expect(try await Curl([list]).status == 401)
    #expect(try await Curl(Self.user("mira", "developers") + [list]).status == 200)
    #expect(try lines("audit.log").last?["user"] as? String == "mira")
    #expect(try await Curl(Self.user("mira", "guests") + [list]).status == 403)
    let page = try await Curl(
      Self.user("mira", "developers") + ["-H", "Accept: text/html", server.address("/")])
    #expect(page.status == 200 && page.text.contains("mira") && !page.text.contains("/sign-in"))
    let signIn = try await Curl(Self.user("mira", "developers") + [server.address("/sign-in")])
    #expect(signIn.status == 303 && signIn.field("Location") == "/")
    // The server's log has no fields of requests, and does not call the store open.
    #expect(try server.program.errors.contains(#""user":"mira""#))
    #expect(try !server.program.errors.contains("The store is open"))
    await server.program.stop()
  }

  @Test func `the fields from another address are refused and recorded, on every path and with a token`()
    async throws
  {
    let created = try await Product.run(["token", "create", "--scope", "admin", "--storage", storage.path])
    let token = try #require(created.lines.first)
    let server = try await serve()
    let other = ["--interface", "127.0.0.2", "-H", "Authorization: Bearer \(token)"]
    for path in ["/v1/snapshots", "/healthz", "/nothing"] {
      let forged = try await Curl(other + Self.user("mira", "leads") + [server.address(path)])
      #expect(forged.status == 403)
      #expect(try forged.json["type"] as? String == "urn:data-snapshots:problem:user-not-trusted")
    }
    let line = try #require(try lines("audit-refused.log").first)
    #expect(line["action"] as? String == "stateUser")
    #expect((line["address"] as? String)?.hasPrefix("127.0.0.2:") == true)
    #expect(line["problem"] as? String == "user-not-trusted")
    #expect(try await Curl(other + [server.address("/v1/snapshots")]).status == 200)
    await server.program.stop()
  }

  @Test func `fields that a proxy would not send are refused on the wire`() async throws {
    let server = try await serve()
    let list = server.address("/v1/snapshots")
    for fields in [
      ["-H", "Remote-User: mira", "-H", "remote-user: otto"], ["-H", "Remote-User;"],
      ["-H", "Remote-User: Zoë"], ["-H", "Remote-User: (null)"],
      ["-H", "Remote-User: mira", "-H", "Remote_Groups: leads"],
      ["-H", "Remote-User: \(String(repeating: "m", count: 129))"],
    ] {
      let answer = try await Curl(fields + [list])
      #expect(answer.status == 400, "\(fields)")
      #expect(try answer.json["type"] as? String == "urn:data-snapshots:problem:malformed-user")
    }
    // The HTTP engine refuses control characters in any field.
    for character in ["\u{7}", "\u{7F}"] {
      #expect(try await Curl(["-H", "Remote-User: mi\(character)ra", list]).status == 400)
    }
    let longest = String(repeating: "m", count: 128)
    #expect(try await Curl(Self.user(longest, "developers") + [list]).status == 200)
    await server.program.stop()
  }

  @Test func `a user attaches from pages of this server only`() async throws {
    let server = try await serve()
    let (zip, _) = try await Sample.bundle(in: folder)
    let attach =
      Self.user("mira", "developers") + [
        "-T", zip.path, "-X", "POST", "-H", "Content-Type: application/zip",
        server.address("/v1/reports/BUG-1/snapshots"),
      ]
    for fields in [[], ["-H", "Origin: https://evil.example"], ["-H", "Sec-Fetch-Site: same-site"]] {
      #expect(try await Curl(fields + attach).status == 403)
    }
    let answer = try await Curl(["-H", "Origin: \(server.url.absoluteString)"] + attach)
    #expect(answer.status == 201)
    #expect(try answer.json["attachedBy"] as? String == "user:mira")
    await server.program.stop()
  }

  @Test func `SIGHUP takes other groups`() async throws {
    let server = try await serve()
    let list = Self.user("mira", "developers") + [server.address("/v1/snapshots")]
    #expect(try await Curl(list).status == 200)
    let changed = Self.settings.replacing("developers=read attach, ", with: "")
    try folder.write(Data(changed.utf8), to: "server.yaml")
    server.program.signal(SIGHUP)
    while try !server.program.errors.contains("The settings were read again") {
      _ = try await Curl([server.address("/healthz")])
    }
    #expect(try await Curl(list).status == 403)
    await server.program.stop()
  }

  @Test(.enabled(if: Tool.find("openssl") != nil, "openssl isn't installed"))
  func `a certificate shows which client is the proxy`() async throws {
    let maker = try CertificateMaker()
    let authority = try await maker.make("authority", as: "authority", isAuthority: true)
    let pair = try await maker.make("localhost", as: "server")
    let proxy = try await maker.make("proxy", as: "proxy", issuer: authority)
    let app = try await maker.make("app", as: "app", issuer: authority)
    let server = try await serve(
      Self.settings.replacing("from: 127.0.0.1", with: "from: mtls:proxy") + """
          tls:
            certificate: \(pair.certificate)
            key: \(pair.key)
            clientAuthorities: \(authority.certificate)

        """)
    func status(_ client: CertificateMaker.Pair?) async throws -> Int {
      let certificate = client.map { ["--cert", $0.certificate, "--key", $0.key] } ?? []
      return try await Curl(
        ["--insecure"] + certificate + Self.user("mira", "developers") + [server.address("/v1/snapshots")]
      ).status
    }
    #expect(try await status(proxy) == 200)
    #expect(try await status(app) == 403)
    #expect(try await status(nil) == 403)
    await server.program.stop()
  }

  // MARK: Settings

  @Test(arguments: [
    ("header: Authorization", "server.trustedUser.header is ‘Authorization’"),
    ("header: cookie", "server.trustedUser.header is ‘cookie’"), ("header: Host", "without another meaning"),
    ("header: X-Forwarded-For", "without another meaning"), ("header: If-Match", "without another meaning"),
    ("header: Remote_User", "without another meaning"), ("header: 'Remote User'", "without another meaning"),
    ("groups: Remote-User", "name the same field"), ("from: ''", "have no effect without"),
    ("from: localhost", "takes unix, mtls"), ("from: 0.0.0.0/0", "takes unix, mtls"),
    ("from: 10.0.0.1/8", "takes unix, mtls"), ("from: mtls", "needs server.tls.clientAuthorities"),
    ("scopes: developers", "at most 100 entries"), ("scopes: developers=write", "at most 100 entries"),
    ("scopes: a=read, a=admin", "at most 100 entries"), ("scopes: ''", "lets nobody do anything"),
    ("groups: ''", "needs server.trustedUser.groups"), ("everybody: read write", "takes some of"),
    ("proxyProtocol: true\n  trustedProxies: 127.0.0.1", "can only have mtls with server.proxyProtocol"),
  ])
  func `settings that do not fit are refused with a sentence`(line: String, sentence: String) async throws {
    let name = line.prefix { $0 != ":" }
    let settings = Self.settings.split(separator: "\n").filter {
      !$0.trimmingCharacters(in: .whitespaces).hasPrefix("\(name):")
    }.joined(separator: "\n")
    let indent = name == "proxyProtocol" ? "  " : "    "
    let file = try folder.write(Data("\(settings)\n\(indent)\(line)\n".utf8), to: "server.yaml")
    for command in [["config", "check"], ["serve", "--port", "0", "--storage", storage.path]] {
      let outcome = try await Product.run(command + ["--config", file.path], folder: folder.url)
      #expect(outcome.status == 2)
      #expect(outcome.errors.contains(sentence), "\(outcome.errors)")
    }
  }

  @Test func `the settings are valid, in all forms`() async throws {
    let groups = (1...100).map { "group \($0)=read" }.joined(separator: ", ")
    for line in [
      "from: 127.0.0.1, unix, ::1, 10.0.0.0/8", "scopes: 'CN=dev = read  comment, /team/leads=admin'",
      "everybody: read, comment", "header: X-Forwarded-User", "scopes: \(groups)",
    ] {
      let name = line.prefix { $0 != ":" }
      let settings = Self.settings.split(separator: "\n").filter {
        !$0.trimmingCharacters(in: .whitespaces).hasPrefix("\(name):")
      }.joined(separator: "\n")
      let file = try folder.write(Data("\(settings)\n    \(line)\n".utf8), to: "server.yaml")
      let outcome = try await Product.run(["config", "check", "--config", file.path], folder: folder.url)
      #expect(outcome.status == 0, "\(outcome.errors)")
    }
    let file = try folder.write(
      Data("\(Self.settings.replacing("leads=admin", with: "\(groups), leads=admin"))".utf8),
      to: "server.yaml")
    let outcome = try await Product.run(["config", "check", "--config", file.path], folder: folder.url)
    #expect(outcome.status == 2 && outcome.errors.contains("at most 100 entries"))
  }
}
