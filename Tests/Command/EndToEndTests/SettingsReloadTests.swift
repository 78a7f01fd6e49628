import Foundation
import SnapshotServer
import TestSupport
import Testing

@testable import snapshot

/// Settings that change while the server runs, and their check before.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct SettingsReloadTests {
  private let folder: TemporaryFolder
  private var file: URL { folder.file("server.yaml") }

  init() throws { folder = try TemporaryFolder() }

  private func write(_ settings: String) throws { try folder.write(Data(settings.utf8), to: "server.yaml") }

  /// Requests `/healthz` until the log has `count` lines with `text`.
  private func wait(for text: String, count: Int = 1, in server: TestServer) async throws {
    while try server.program.errors.components(separatedBy: text).count <= count {
      _ = try await Curl([server.address("/healthz")])
    }
  }

  @Test func `SIGHUP applies the settings that can change, and names those that need a restart`() async throws
  {
    try write("server:\n  limits:\n    headBytes: 4000\n")
    let server = try await TestServer(storage: folder.file("storage"), ["--config", file.path])
    let field = ["-H", "X: \(String(repeating: "x", count: 2000))", server.address("/healthz")]
    #expect(try await Curl(field).status == 200)

    try write("server:\n  limits:\n    headBytes: 1000\n  eventLoops: 3\n  logLevel: debug\n")
    server.program.signal(SIGHUP)
    try await wait(for: "The settings were read again", in: server)
    #expect(try await Curl(field).status == 431)
    let log = try server.program.errors
    #expect(log.contains(#""from":"4000","level":"notice""#))
    #expect(log.contains(#""setting":"server.limits.headBytes","time""#))
    #expect(log.contains("server.eventLoops"))
    #expect(log.contains(#""changed":"2""#) && log.contains(#""needRestart":"1""#))
    #expect(await server.program.stop() == 0)
  }

  @Test func `if a setting is invalid, SIGHUP changes nothing`() async throws {
    try write("server:\n  limits:\n    headBytes: 4000\n")
    let server = try await TestServer(storage: folder.file("storage"), ["--config", file.path])
    let field = ["-H", "X: \(String(repeating: "x", count: 2000))", server.address("/healthz")]
    try write("server:\n  limits:\n    headBytes: 1000\n    connections: none\n")
    server.program.signal(SIGHUP)
    try await wait(for: "nothing was changed", in: server)
    #expect(try server.program.errors.contains("server.limits.connections is ‘none’"))
    #expect(try await Curl(field).status == 200)
    // A later attempt succeeds.
    try write("server:\n  limits:\n    headBytes: 1000\n")
    server.program.signal(SIGHUP)
    try await wait(for: "The settings were read again", in: server)
    #expect(try await Curl(field).status == 431)
  }

  @Test func `a text with the same meaning is no change, and a missing one is the default`() throws {
    func read(_ text: String) throws -> ReadSettings {
      try write(text)
      return try SettingsSource(environment: [:], file: file.path, fileIsRequired: true).read()
    }
    let former = try read(
      "server:\n  port: 8080\n  requestsPerToken: 1/min\n  retention:\n    age: 24h\n  logLevel: debug\n")
    let new = try read(
      "server:\n  requestsPerToken: 2/min\n  retention:\n    age: 1d\n  shutdownSeconds: 5\n")
    let change = SettingsChange(from: former, to: new)
    #expect(change.now.map(\.name) == ["server.requestsPerToken", "server.logLevel"])
    #expect(change.later.map(\.name) == ["server.shutdownSeconds"])
    #expect("\(change.settings.settings.logLevel)" == "info")
    #expect(change.settings.settings.shutdownSeconds == 30)
    #expect(change.settings.settings.retention == new.settings.retention)
    let again = SettingsChange(from: change.settings, to: new)
    #expect(again.now.isEmpty && again.later == change.later)
  }

  @Test func `the article names the settings that change without a restart`() throws {
    let article = try String(
      contentsOf: PackageFolder.url().appending(
        path: "Sources/Server/SnapshotServer/SnapshotServer.docc/Settings.md"), encoding: .utf8)
    let section = try #require(article.components(separatedBy: "### Without a restart\n").last)
      .components(separatedBy: "\n### ")[0]
    let named = Set(section.matches(of: /`([a-zA-Z.*]+)`/).map { String($0.1) })
    let reloading = ServerSettings.table.filter(\.reloads).map { $0.name.dropFirst("server.".count) }
    #expect(reloading.count > 20)
    for name in reloading {
      #expect(named.contains(String(name)) || named.contains("\(name.split(separator: ".")[0]).*"), "\(name)")
    }
    for setting in ServerSettings.table where !setting.reloads {
      #expect(!named.contains(String(setting.name.dropFirst("server.".count))), "\(setting.name)")
    }
  }

  @Test func `config check names every problem, and prints what differs from the defaults`() async throws {
    try write(
      "server:\n  port: 9090\n  limits:\n    connections: 0\n  retntion:\n    age: 1d\n  logLevel: info\n")
    let bad = try await Product.run(
      ["config", "check", "--config", file.path], environment: ["SNAPSHOT_SERVER_PROT": "1"])
    #expect(bad.status == 2)
    for text in [
      "server.limits.connections is ‘0’", "There is no setting server.retntion.age (line 6 of ",
      "SNAPSHOT_SERVER_PROT is not a setting", "2 settings are invalid",
    ] {
      #expect(bad.errors.contains(text), "\(text)")
    }
    try write("server:\n  port: 9090\n  logLevel: info\n")
    let good = try await Product.run(
      ["config", "check", "--config", file.path], environment: ["SNAPSHOT_SERVER_AUDIT_FILES": "3"])
    #expect(good.status == 0)
    #expect(good.lines == ["server.auditFiles  3  (environment)", "server.port        9090  (line 2)"])
    let json = try await Product.run(["config", "check", "--json", "--config", file.path])
    #expect(json.text.contains(#""reloads" : false"#))
    #expect(try await Product.run(["config", "check", "--config", folder.file("none").path]).status == 2)
  }

  @Test func `every setting has its environment variable`() throws {
    for setting in ServerSettings.table {
      let source = SettingsSource(
        environment: [SettingsSource.variable(for: setting.name): "no such value: \u{1}"], file: "none.yaml",
        fileIsRequired: false)
      let (read, problems) = try source.inspect()
      #expect(!problems.isEmpty || read.texts[setting.name] != nil, "\(setting.name)")
      #expect(source.unknownVariables.isEmpty)
    }
  }
}
