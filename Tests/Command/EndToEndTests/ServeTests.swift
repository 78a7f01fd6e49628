import Foundation
import HTTPEngine
import SnapshotFormat
import SnapshotServer
import SnapshotStore
import SystemIO
import TestSupport
import Testing
import Webhooks
import Yams

@testable import snapshot

/// Starting and stopping the server.
@Suite struct ServeTests {
  @Test(arguments: [SIGTERM, SIGINT])
  func `it prints its address in one line, and stops cleanly at a signal`(signal: Int32) async throws {
    let folder = try TemporaryFolder()
    let server = try await TestServer(storage: folder.file("storage"))
    #expect(server.url.host() == "127.0.0.1")
    #expect(try await Curl([server.address("/healthz")]).status == 200)
    #expect(await server.program.stop(signal) == 0)
  }

  @Test func `without tokens it listens on other addresses than loopback only with --insecure`() async throws
  {
    let folder = try TemporaryFolder()
    let outcome = try await Product.run([
      "serve", "--host", "0.0.0.0", "--port", "0", "--storage", folder.file("storage").path,
    ])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("--insecure"))
    #expect(outcome.output.isEmpty)
  }

  @Test func `flags take precedence over the environment, and this over the file`() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(
      Data("server:\n  storage: \(folder.file("from-file").path)\n  port: 1\n".utf8), to: "server.yaml")
    let program = try await RunningProgram(
      Product.path, ["serve", "--config", file.path, "--port", "0"],
      environment: [
        "SNAPSHOT_SERVER_PORT": "2", "SNAPSHOT_SERVER_STORAGE": folder.file("from-environment").path,
      ])
    #expect(program.firstLine.hasPrefix("Listening on http://127.0.0.1:"))
    #expect(FileManager.default.fileExists(atPath: folder.file("from-environment/bundles").path))
    #expect(!FileManager.default.fileExists(atPath: folder.file("from-file").path))
    await program.stop()
  }

  @Test(
    arguments: [
      (["SNAPSHOT_SERVER_PORT": "http"], "server.port"),
      (["SNAPSHOT_SERVER_PORT": "65536"], "server.port"),
      (["SNAPSHOT_SERVER_MAXIMUM_BUNDLE_BYTES": "0"], "server.maximumBundleBytes"),
      (["SNAPSHOT_SERVER_MAXIMUM_INFLATED_BYTES": "0"], "server.maximumInflatedBytes"),
      (["SNAPSHOT_SERVER_VALIDATION": "some"], "server.validation"),
      (["SNAPSHOT_SERVER_REDACTION_REQUIRED": "tokens,,cookies, "], "server.redaction.required"),
      (["SNAPSHOT_SERVER_REDACTION_OTHERWISE": "drop"], "server.redaction.otherwise"),
      (["SNAPSHOT_SERVER_LOG_LEVEL": "loud"], "server.logLevel"),
      (["SNAPSHOT_SERVER_COMPARISON_FILTER": "a..b"], "server.comparisonFilter"),
      (["SNAPSHOT_SERVER_TRACKER": "https://tracker.example/"], "server.tracker"),
      (["SNAPSHOT_SERVER_NEW_ISSUE": "https://tracker.example/{nothing}"], "server.newIssue"),
      (["SNAPSHOT_SERVER_TRUSTED_PROXIES": "10.0.0.0/8, all"], "server.trustedProxies"),
      (["SNAPSHOT_SERVER_FORWARDING_FIELDS": "x"], "server.forwardingFields"),
      (["SNAPSHOT_SERVER_PUBLIC_URL": "tools.example"], "server.publicURL"),
      (["SNAPSHOT_SERVER_PUBLIC_URL": "https://tools.example/a b"], "server.publicURL"),
      (["SNAPSHOT_SERVER_PUBLIC_URL": "https://tools.example/docs"], "server.publicURL"),
      (["SNAPSHOT_SERVER_LIMITS_CONNECTIONS": "0"], "server.limits.connections"),
      (["SNAPSHOT_SERVER_LIMITS_HEAD_SECONDS": "10s"], "server.limits.headSeconds"),
    ] as [([String: String], String)])
  func `an error for an invalid setting names the setting`(environment: [String: String], key: String)
    async throws
  {
    let outcome = try await Product.run(["serve"], environment: environment)
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains(key))
  }

  @Test func `an error for a missing or malformed settings file names the file`() async throws {
    let folder = try TemporaryFolder()
    let broken = try folder.write(Data("server: [".utf8), to: "broken.yaml")
    for path in [folder.file("missing.yaml").path, broken.path] {
      let outcome = try await Product.run(["serve", "--config", path])
      #expect(outcome.status == 2)
      #expect(outcome.errors.contains(path))
    }
  }

  @Test func `the settings in the project are the defaults`() throws {
    let file = DockerTests.root.appending(path: "Config/server.yaml")
    let settings = try ServerSettings(environment: [:], file: file.path, fileIsRequired: true)
    #expect(settings == ServerSettings(port: 8080, storage: "Storage"))
    let yaml = try Yams.load(yaml: String(contentsOf: file, encoding: .utf8)) as? [String: [String: Any]]
    let names = Mirror(reflecting: settings).children.compactMap(\.label)
    #expect(Set(yaml?["server"]?.keys.map(\.self) ?? []) == Set(names))
    let retention = yaml?["server"]?["retention"] as? [String: Any]
    #expect(Set(retention?.keys.map(\.self) ?? []) == Set(RetentionSettings.settings.map(\.name)))
    let uploads = yaml?["server"]?["uploads"] as? [String: Any]
    #expect(Set(uploads?.keys.map(\.self) ?? []) == Set(UploadSettings.settings.map(\.name)))
    let webhooks = yaml?["server"]?["webhooks"] as? [String: Any]
    #expect(Set(webhooks?.keys.map(\.self) ?? []) == Set(WebhookSettings.settings.map(\.name)))
    let limits = yaml?["server"]?["limits"] as? [String: Int]
    #expect(Set(limits?.keys.map(\.self) ?? []) == Set(ServerSettings.limitSettings.map(\.name)))
  }

  @Test func `limits and trusted proxies are read from the settings`() throws {
    let names = Dictionary(
      uniqueKeysWithValues: ServerSettings.limitSettings.enumerated().map { index, setting in
        ("server.limits.\(setting.name)", "\(index + 7)")
      })
    let flags = names.merging(["server.trustedProxies": "10.0.0.0/8,  ::1"]) { $1 }
    let settings = try ServerSettings(
      flags: flags, environment: [:], file: "none.yaml", fileIsRequired: false)
    #expect(settings.trustedProxies.map(\.description) == ["10.0.0.0/8", "::1/128"])
    #expect(settings.limits.requestLineBytes == 7)
    #expect(settings.limits.headTime == .seconds(10))
    #expect(settings.limits.connectionsPerAddress == 18)
    var limits: HTTPLimits? = HTTPLimits()
    for (index, setting) in ServerSettings.limitSettings.enumerated() {
      limits = limits.flatMap { setting.parse("\(index + 7)", into: $0) }
    }
    #expect(settings.limits == limits)
  }

  @Test func `retention rules are read from the settings`() throws {
    let flags = [
      "age": "90d", "countPerReport": "3", "totalBytes": "1000", "interval": "5m", "quotaBytes": "2000",
      "applications": "com.example.beta age=14d countPerReport=5 totalBytes=10, com.example.app age=never",
      "scrubInterval": "never", "scrubBytesPerSecond": "4096",
    ]
    let settings = try ServerSettings(
      flags: Dictionary(uniqueKeysWithValues: flags.map { ("server.retention.\($0.key)", $0.value) }),
      environment: [:], file: "none.yaml", fileIsRequired: false
    ).retention
    #expect(settings.rules.limits == .init(age: TimeSpan("90d"), countPerReport: 3, totalBytes: 1000))
    #expect(
      settings.rules.applications == [
        "com.example.beta": .init(age: TimeSpan("14d"), countPerReport: 5, totalBytes: 10),
        "com.example.app": .init(),
      ])
    #expect(settings.interval == TimeSpan("5m") && settings.quotaBytes == 2000)
    #expect(settings.scrubInterval == nil && settings.scrubBytesPerSecond == 4096)
  }

  @Test(
    arguments: [
      (nil, "", true), (nil, "10.0.0.1", false), ("automatic", "10.0.0.1", false), ("true", "10.0.0.1", true),
      ("false", "", false), ("automatic", "", true),
    ] as [(String?, String, Bool)])
  func `interim responses are sent through a trusted proxy only if enabled`(
    told: String?, proxies: String, isSent: Bool
  ) throws {
    var flags = ["server.trustedProxies": proxies]
    flags["server.uploads.interimAnswers"] = told
    let settings = try ServerSettings(
      flags: flags, environment: [:], file: "none.yaml", fileIsRequired: false)
    #expect(settings.sendsInterimAnswers == isSent)
  }

  @Test func `the upload protocols are read from the settings`() throws {
    let flags = [
      "interimAnswers": "false", "origins": "https://example.com", "open": "7", "openPerToken": "3",
      "openPerAddress": "2", "empty": "5m", "idle": "2h", "age": "1d",
    ]
    func read(_ flags: [String: String]) throws -> UploadSettings {
      try ServerSettings(
        flags: Dictionary(uniqueKeysWithValues: flags.map { ("server.uploads.\($0.key)", $0.value) }),
        environment: [:], file: "none.yaml", fileIsRequired: false
      ).uploads
    }
    var expected = UploadSettings()
    for setting in UploadSettings.settings {
      let others = expected
      let isTaken = setting.set(&expected, try #require(flags[setting.name]))
      #expect(isTaken && expected != others, "\(setting.name)")
    }
    #expect(try read(flags) == expected)
    for (name, text) in [
      ("interimAnswers", "1"), ("origins", "example.com"), ("open", "0"), ("idle", "never"),
    ] {
      #expect(throws: CommandFailure.self) { try read([name: text]) }
    }
  }

  @Test func `an error for a port in use names the port`() async throws {
    let folder = try TemporaryFolder()
    let first = try await TestServer(storage: folder.file("first"))
    let port = try #require(first.url.port)
    let second = try await Product.run([
      "serve", "--port", "\(port)", "--storage", folder.file("second").path,
    ])
    #expect(second.status == 1)
    #expect(second.errors.contains("\(port)"))
  }

  @Test func `logs are JSON lines unless stderr is a terminal`() async throws {
    let folder = try TemporaryFolder()
    let server = try await TestServer(storage: folder.file("storage"))
    _ = try await Curl([server.address("/v1/nothing")])
    await server.program.stop()
    let lines = try server.program.errors.split(separator: "\n")
    #expect(!lines.isEmpty)
    for line in lines {
      let event = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String]
      #expect(event?["message"] != nil)
    }
    #expect(lines.contains { $0.contains("/v1/nothing") })
  }
}
