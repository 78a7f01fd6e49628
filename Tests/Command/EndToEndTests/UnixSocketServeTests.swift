import Foundation
import SystemIO
import TestSupport
import Testing

/// `snapshot serve` on a Unix socket, or behind a proxy that speaks the PROXY protocol.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct UnixSocketServeTests {
  private let folder: TemporaryFolder
  private var storage: String { folder.file("storage").path }
  private let path: SocketPath

  init() throws {
    folder = try TemporaryFolder()
    path = try #require(SocketPath(folder.path + "/http.sock"))
  }

  private func start(_ arguments: [String] = [], environment: [String: String] = [:]) async throws
    -> RunningProgram
  {
    try await RunningProgram(
      Product.path, ["serve", "--socket", path.text, "--storage", storage] + arguments,
      environment: environment)
  }

  private func curl(_ arguments: [String]) async throws -> Curl {
    try await Curl(["--unix-socket", path.text] + arguments)
  }

  /// The last line of the audit log.
  private func audited() throws -> [String: String] {
    let text = try String(contentsOfFile: storage + "/audit.log", encoding: .utf8)
    let line = try JSONSerialization.jsonObject(
      with: Data(try #require(text.split(separator: "\n").last).utf8))
    return try #require(line as? [String: Any]).compactMapValues { $0 as? String }
  }

  @Test func `snapshots are attached and fetched through a Unix socket, which is removed at the end`()
    async throws
  {
    let server = try await start()
    #expect(server.firstLine == "Listening on unix:\(path.text)")
    #expect(try Folder.ownership(of: path.text)?.permissions == 0o660)
    let (bundle, id) = try await Sample.bundle(in: folder)
    let target = "http://localhost/v1/reports/A/snapshots/\(id)"
    let attached = try await curl([
      "-T", bundle.path, "-H", "Content-Type: application/zip", "-H", "Forwarded: for=192.0.2.1", target,
    ])
    #expect(attached.status == 201, "\(attached.text)")
    #expect(try audited()["address"] == "unix")
    #expect(try await curl(["http://localhost/v1/snapshots/\(id).zip"]).body == Data(contentsOf: bundle))
    // A name that somebody else could own, and a page of another site.
    #expect(try await curl(["http://snapshots.example.org/v1/snapshots"]).status == 421)
    let foreign = ["-X", "POST", "-H", "Origin: http://a.example", "http://localhost/v1/scrub"]
    #expect(try await curl(foreign).status == 403)
    #expect(await server.stop() == 0)
    #expect(try Folder.file(at: path.text) == nil)
  }

  @Test func `a trusted proxy names the clients`() async throws {
    let server = try await start(environment: ["SNAPSHOT_SERVER_TRUSTED_PROXIES": "unix"])
    let (bundle, id) = try await Sample.bundle(in: folder)
    let attached = try await curl([
      "-T", bundle.path, "-H", "Content-Type: application/zip", "-H", "Forwarded: for=192.0.2.1",
      "http://localhost/v1/reports/A/snapshots/\(id)",
    ])
    #expect(attached.status == 201, "\(attached.text)")
    #expect(try audited()["address"] == "192.0.2.1")
    await server.stop()
  }

  @Test func `the file that a killed server leaves is replaced, and the one of a running server is not`()
    async throws
  {
    let first = try await start(environment: ["SNAPSHOT_SERVER_SOCKET_MODE": "600"])
    #expect(try Folder.ownership(of: path.text)?.permissions == 0o600)
    await #expect {
      try await RunningProgram(
        Product.path, ["serve", "--socket", path.text, "--storage", folder.file("other").path])
    } throws: {
      let errors = ($0 as? RunningProgram.Failure)?.errors
      return errors?.contains("Another process is listening at unix:\(path.text)") == true
    }
    #expect(try await curl(["http://localhost/healthz"]).status == 200)
    await first.stop(SIGKILL)
    #expect(try Folder.file(at: path.text) != nil)
    let second = try await start()
    #expect(try await curl(["http://localhost/healthz"]).status == 200)
    await second.stop()
  }

  @Test func `a service manager can pass a Unix socket, whose file stays`() async throws {
    let listener = try UnixListener(at: path, mode: 0o600)
    for _ in 0..<2 {
      let server = try await RunningProgram(
        "sh",
        [
          "-c", "LISTEN_PID=$$ exec \"$0\" \"$@\"", Product.path, "serve", "--port", "1", "--storage",
          storage,
        ],
        environment: ["LISTEN_FDS": "1"], inherited: [listener.socket.descriptor])
      #expect(server.firstLine == "Listening on unix:\(path.text)")
      #expect(try await curl(["http://localhost/healthz"]).status == 200)
      #expect(await server.stop() == 0)
      #expect(try UnixListener.isListening(path))
    }
  }

  @Test func `HTTPS works through a Unix socket`() async throws {
    let server = try await start(["--tls-self-signed"])
    #expect(try await curl(["--insecure", "https://localhost/healthz"]).status == 200)
    await server.stop()
  }

  @Test(
    arguments: [
      (["SOCKET": String(repeating: "a", count: 200)], "the path of a file, with at most"),
      (["SOCKET_MODE": "1660"], "permission bits"), (["SOCKET_MODE": "0460"], "permission bits"),
      (["SOCKET_MODE": "rw"], "permission bits"), (["TRUSTED_PROXIES": "unix:"], "‘unix’"),
      (["PROXY_PROTOCOL": "yes"], "true or false"),
      (["PROXY_PROTOCOL": "true"], "needs server.trustedProxies"),
      (["PROXY_PROTOCOL": "true", "TRUSTED_PROXIES": "127.0.0.1", "SOCKET": "a"], "needs ‘unix’"),
      (["SOCKET": "a", "TLS_SELF_SIGNED": "true", "TLS_HTTP_PORT": "0"], "with server.socket there is none"),
    ] as [([String: String], String)])
  func `settings that can't be used are named`(settings: [String: String], words: String) async throws {
    let environment = Dictionary(
      uniqueKeysWithValues: settings.map { ("SNAPSHOT_SERVER_\($0.key)", $0.value) })
    for command in [["config", "check"], ["serve"]] {
      let outcome = try await Product.run(command, environment: environment, folder: folder.url)
      #expect(outcome.status == 2)
      #expect(outcome.errors.contains(words), "\(outcome.errors)")
    }
  }

  @Test func `doctor examines whether a server listens`() async throws {
    func doctor(_ environment: [String: String]) async throws -> String {
      try await Product.run(["doctor", "--storage", storage], environment: environment, folder: folder.url)
        .text
    }
    let environment = ["SNAPSHOT_SERVER_SOCKET": path.text]
    #expect(try await doctor(environment).contains("No server listens at unix:\(path.text)"))
    let server = try await start()
    #expect(try await doctor(environment).contains("A server listens at unix:\(path.text)"))
    await server.stop()
    let proxy = ["SNAPSHOT_SERVER_PROXY_PROTOCOL": "true", "SNAPSHOT_SERVER_TRUSTED_PROXIES": "127.0.0.1"]
    #expect(try await doctor(proxy).contains("Only proxies can send requests"))
  }

  @Test(arguments: [false, true])
  func `the client that the PROXY protocol names is in the audit log`(isSecure: Bool) async throws {
    let server = try await TestServer(
      storage: folder.file("storage"), isSecure ? ["--tls-self-signed"] : [],
      environment: ["SNAPSHOT_SERVER_PROXY_PROTOCOL": "true", "SNAPSHOT_SERVER_TRUSTED_PROXIES": "127.0.0.1"])
    let (bundle, id) = try await Sample.bundle(in: folder)
    // curl names itself, so it also connects from an address of its own.
    let attached = try await Curl([
      "--haproxy-protocol", "--insecure", "--interface", "127.0.0.1", "-T", bundle.path, "-H",
      "Content-Type: application/zip", "-H", "Forwarded: for=192.0.2.1",
      server.address("/v1/reports/A/snapshots/\(id)"),
    ])
    #expect(attached.status == 201, "\(attached.text)")
    // curl's own address is that of a trusted proxy, which names the client.
    #expect(try audited()["address"] == "192.0.2.1")
    let outcome = try await Tool.run("curl", ["--silent", "--insecure", server.address("/healthz")])
    #expect(outcome.status != 0 && outcome.output.isEmpty)
    await server.program.stop()
    let log = try server.program.errors
    #expect(log.contains("connection refused: PROXY protocol") && log.contains("There is no valid header"))
  }
}
