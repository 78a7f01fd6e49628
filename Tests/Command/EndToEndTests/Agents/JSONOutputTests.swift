import ArgumentParser
import Foundation
import TestSupport
import Testing
import Webhooks

@testable import snapshot

/// Results as JSON.
@Suite struct JSONOutputTests {
  /// Commands that print no result of their own: they run until they are stopped, print the contents of a file, or have
  /// subcommands.
  private static let others: Set = [
    "serve", "demo", "run", "replay", "view", "cat", "mcp", "skill", "token", "config", "keys", "webhooks",
  ]

  @Test func `every command that prints a result has the option`() {
    func commands(_ all: [any ParsableCommand.Type]) -> [any ParsableCommand.Type] {
      all.flatMap { [$0] + commands($0.configuration.subcommands) }
    }
    for command in commands(Snapshot.configuration.subcommands) {
      guard let name = command.configuration.commandName, !Self.others.contains(name) else { continue }
      #expect(command.helpMessage().contains("--json"), "\(name)")
    }
  }

  @Test func `results are JSON with documented keys`() async throws {
    let folder = try TemporaryFolder()
    // Its address is not public, so that nothing is sent.
    let webhook = try #require(WebhookEndpoint("http://127.0.0.1:1/events"))
    let secret = "whsec_" + Data(repeating: 7, count: 32).base64EncodedString()
    let server = try await TestServer(
      storage: folder.file("storage"),
      environment: [
        "SNAPSHOT_SERVER_WEBHOOKS_ENDPOINTS": "http://127.0.0.1:1/events",
        "SNAPSHOT_SERVER_WEBHOOKS_SECRET_FILE": try folder.write(Data(secret.utf8), to: "secrets").path,
      ])
    let environment = ["SNAPSHOT_SERVER": server.url.absoluteString]
    try FileManager.default.createDirectory(at: folder.file("tests"), withIntermediateDirectories: false)
    let (zip, _) = try await Sample.bundle(in: folder)
    let (other, _) = try await Sample.bundle(in: folder, seed: 1)
    try folder.write(Data("[1,".utf8), to: "damaged/feed.json")
    let damaged = folder.file("damaged.zip")
    let packed = try await Product.run(
      ["pack", folder.file("damaged").path, "--output", damaged.path, "--json"])
    #expect(try JSONSerialization.jsonObject(with: packed.output) is [String: Any])
    let upload = try await Product.run(
      ["upload", zip.path, "--report", "BUG-7", "--json"], environment: environment)
    let record = try #require(try JSONSerialization.jsonObject(with: upload.output) as? [String: Any])
    let id = try #require(record["id"] as? String)

    let cases: [(arguments: [String], status: Int32, keys: Set<String>)] = [
      (["list"], 0, ["id", "report", "receivedAt", "application", "recordingCount"]),
      (["inspect", id], 0, ["id", "application", "device", "recordings"]),
      (["grep", "seed", id], 0, ["snapshot", "file", "identifier", "count", "groups"]),
      (["diff", zip.path, other.path], 1, ["changed", "added", "removed"]),
      (["diff", "--summary", zip.path, other.path], 1, ["differs", "recordings", "files", "alike"]),
      (["problems", damaged.path], 1, ["identifier", "problem"]),
      (["verify", zip.path], 0, ["id"]),
      (["open", "--print", id], 0, ["id", "url"]),
      (["link", id, "--expires", "1h"], 0, ["url", "expiresAt"]),
      (["test", "BUG-7", "--into", folder.file("tests").path], 0, ["fixture", "test", "type", "command"]),
      (["export", id, "--har", folder.file("a.har").path], 0, ["path", "exchanges"]),
      (["fetch", id, "--output", folder.file("fetched.zip").path], 0, ["id", "path", "size", "sha256"]),
      (["pin", id], 0, ["id"]), (["mark-good", id], 0, ["id"]),
      (["secrets", zip.path], 0, []),
      (["webhooks", "list"], 0, ["name", "waiting", "delivered", "failed", "dropped", "isDisabled"]),
      (["webhooks", "list", webhook.name], 0, ["event", "snapshot", "state", "tries"]),
      (["webhooks", "test", webhook.name], 1, ["event", "isAccepted", "answer"]),
      (["webhooks", "redeliver", webhook.name], 0, ["count"]),
    ]
    for (arguments, status, keys) in cases {
      let outcome = try await Product.run(arguments + ["--json"], environment: environment)
      #expect(outcome.status == status, "\(arguments): \(outcome.errors)")
      let json = try JSONSerialization.jsonObject(with: outcome.output)
      let object = (json as? [[String: Any]])?.first ?? json as? [String: Any] ?? [:]
      #expect(keys.isSubset(of: object.keys), "\(arguments): \(object.keys)")
    }
  }
}
