import Foundation
import SnapshotServer
import TestSupport
import Testing

@testable import snapshot

/// The contents of a settings file, and its errors with a name and a line.
@Suite struct SettingsFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func settings(_ text: String) throws -> ServerSettings {
    let file = try folder.write(Data(text.utf8), to: "server.yaml")
    return try ServerSettings(environment: [:], file: file.path, fileIsRequired: true)
  }

  private func refusal(of text: String) throws -> String {
    try #require(#expect(throws: CommandFailure.self) { try settings(text) }).description
  }

  @Test(arguments: [
    ("server:\n  port: 1\n  prot: 8080\n", "server.prot (line 3 of "),
    ("server:\n  limits:\n    connection: 5\n", "server.limits.connection (line 3 of "),
    ("server:\n  retention:\n    uploads:\n", "server.retention.uploads (line 3 of "),
    ("server:\n  Port: 1\n", "server.Port (line 2 of "), ("port: 1\n", "port (line 1 of "),
    ("server:\n  port:\n    http: 1\n", "server.port.http (line 3 of "),
    ("server:\n  log: {}\n", "server.log (line 2 of "), ("serve:\n", "serve (line 1 of "),
  ])
  func `an unknown name is refused`(text: String, named: String) throws {
    let refusal = try refusal(of: text)
    #expect(refusal.hasPrefix("There is no setting \(named)"), "\(refusal)")
    #expect(refusal.contains(folder.file("server.yaml").path))
  }

  @Test func `a value for a group of settings is refused`() throws {
    for (text, key) in [("server: 8080\n", "server"), ("server:\n  limits: 5\n", "server.limits")] {
      #expect(try refusal(of: text).hasPrefix("The setting \(key) is ‘"))
    }
  }

  @Test func `a list is refused for every setting`() throws {
    for text in [
      "server:\n  trustedProxies: [10.0.0.0/8]\n", "server:\n  trustedProxies:\n    - 10.0.0.0/8\n",
      "server:\n  nothing: []\n", "server:\n  - port: 1\n",
    ] {
      #expect(try refusal(of: text).contains(" is a list; it takes one value (line "), "\(text)")
    }
    #expect(try refusal(of: "- server\n").contains("server.yaml is a list"))
  }

  @Test func `a document that is not a mapping or repeats a name is refused`() throws {
    for text in ["server", "server: [", "server:\n  port: 1\n  port: 2\n", "? [a]\n: 1\n"] {
      #expect(try refusal(of: text).contains(folder.file("server.yaml").path), "\(text)")
    }
  }

  @Test(arguments: [
    "", "# server:\n", "---\n", "{}", "server:\n",
    "server:\n  limits:\n    # connections: 5\n  uploads: {}\n",
  ])
  func `a file without settings leaves the defaults`(text: String) throws {
    #expect(try settings(text) == ServerSettings(port: 8080, storage: "Storage"))
  }

  @Test func `a missing file is an error only if it is required`() throws {
    let missing = folder.file("missing.yaml").path
    #expect(
      try ServerSettings(environment: [:], file: missing, fileIsRequired: false)
        == ServerSettings(port: 8080, storage: "Storage"))
    #expect(throws: CommandFailure.self) {
      try ServerSettings(environment: [:], file: missing, fileIsRequired: true)
    }
    // A file that exists but cannot be read is always an error.
    #expect(throws: CommandFailure.self) {
      try ServerSettings(environment: [:], file: folder.url.path, fileIsRequired: false)
    }
  }

  @Test(arguments: [
    ("endpoints", "ftp://hooks.example/", "at most 16 different URLs of http or https, separated by commas"),
    (
      "endpoints", "https://hooks.example, https://hooks.example",
      "at most 16 different URLs of http or https, separated by commas"
    ),
    ("allowedNetworks", "10.0.0.1/8", "addresses and blocks like 10.0.0.0/8, separated by commas"),
    (
      "events", "attached",
      "some of snapshot.attached, snapshot.commented, snapshot.deleted, snapshot.expiring, separated by commas"
    ),
  ])
  func `a wrong setting of webhooks is refused`(name: String, value: String, wanted: String) throws {
    let refusal = try refusal(of: "server:\n  webhooks:\n    \(name): \"\(value)\"\n")
    // The URL of a receiver can be a secret.
    let shown = name == "endpoints" ? "malformed" : "‘\(value)’"
    #expect(refusal == "The setting server.webhooks.\(name) is \(shown); it takes \(wanted).")
  }

  @Test func `webhooks without a secret are refused`() throws {
    #expect(
      try refusal(of: "server:\n  webhooks:\n    endpoints: https://hooks.example/\n")
        == "The setting server.webhooks.endpoints needs server.webhooks.secretFile: events are never sent unsigned."
    )
  }

  @Test func `the server does not start with an unknown setting`() async throws {
    try folder.write(Data("server:\n  prot: 1\n".utf8), to: "Config/server.yaml")
    let outcome = try await Product.run(["serve", "--port", "0"], folder: folder.url)
    #expect(outcome.status == 2)
    #expect(outcome.errors == "Error: There is no setting server.prot (line 2 of Config/server.yaml).\n")
    #expect(!FileManager.default.fileExists(atPath: folder.file("Storage").path))
  }
}
