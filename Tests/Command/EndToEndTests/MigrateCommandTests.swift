import Foundation
import S3Testing
import SnapshotFormat
import TestSupport
import Testing

/// Moving a server's snapshots with the command.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct MigrateCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Runs the command in an environment with the object store.
  private func migrate(
    _ from: String, _ to: String, _ arguments: String..., at store: FakeS3Server,
    environment: [String: String] = [:]
  ) async throws -> Tool.Outcome {
    try await Product.run(
      ["migrate", "--from", from, "--to", to] + arguments,
      environment: FakeS3Server.environment
        .merging(["SNAPSHOT_SERVER_SHARED_ENDPOINT": store.endpoint.absoluteString]) { $1 }
        .merging(environment) { $1 },
      folder: folder.url)
  }

  private func path(_ name: String) -> String { folder.file(name).path }

  private func upload(_ zip: URL, to server: TestServer) async throws {
    let outcome = try await Product.run([
      "upload", zip.path, "--report", "BUG-1", "--server", server.url.absoluteString,
    ])
    try #require(outcome.status == 0, "\(outcome.errors)")
  }

  /// What a server answers for its list, its bundles and the deleted snapshot.
  private func answers(of server: TestServer, _ ids: [SnapshotID]) async throws -> [String] {
    var answers = [String]()
    for path in ["/v1/snapshots?total=true"] + ids.map({ "/v1/snapshots/\($0)" })
      + ids.map({ "/v1/snapshots/\($0).zip" })
    {
      var answer = try await Curl([server.address(path)])
      // The catalogue is made when the server starts.
      while answer.status == 503 { answer = try await Curl([server.address(path)]) }
      // The problem of a deleted snapshot has the id of the request.
      answers.append("\(answer.status) \(answer.status == 410 ? "" : "\(ContentDigest.of(answer.body))")")
    }
    return answers
  }

  @Test func `a folder moves to an object store and back, and clients notice nothing`() async throws {
    try await withFakeS3 { store in
      let address = "s3://\(FakeS3Server.bucket)/production"
      var ids: [SnapshotID] = []
      let server = try await TestServer(storage: folder.file("storage"))
      for seed in 0..<4 {
        let (zip, id) = try await Sample.bundle(in: folder, seed: seed)
        ids.append(id)
        if seed == 3 {
          // While the server is running.
          let first = try await migrate(path("storage"), address, at: store)
          try #require(first.status == 0, "\(first.errors)")
          #expect(first.errors.contains("Copied 3 bundles") && first.errors.contains("stop the servers"))
          let early = try await migrate(path("storage"), address, "--finish", at: store)
          #expect(early.status == 2 && early.errors.contains("Another program uses"), "\(early.errors)")
        }
        try await upload(zip, to: server)
      }
      for arguments in [["delete", "\(ids[0])"], ["pin", "\(ids[1])"]] {
        let outcome = try await Product.run(arguments + ["--server", server.url.absoluteString])
        try #require(outcome.status == 0, "\(outcome.errors)")
      }
      let expected = try await answers(of: server, ids)
      #expect(expected.count { $0.hasPrefix("410") } == 2)
      #expect(await server.program.stop() == 0)

      let last = try await migrate(path("storage"), address, "--finish", "--json", at: store)
      try #require(last.status == 0, "\(last.errors)")
      for count in [#""copiedBundles" : 1"#, #""deletions" : 1"#] {
        #expect(last.text.contains(count), "\(last.text)")
      }
      #expect(last.errors.contains("Tokens and keys are not moved"), "\(last.errors)")
      #expect(last.errors.contains("Set server.shared.store"), "\(last.errors)")

      let back = try await migrate(address, path("back"), "--finish", at: store)
      try #require(back.status == 0, "\(back.errors)")
      #expect(back.errors.contains("Copied 3 bundles") && back.errors.contains("Set server.storage"))
      let other = try await TestServer(storage: folder.file("back"))
      #expect(try await answers(of: other, ids) == expected)
      #expect(await other.program.stop() == 0)
    }
  }

  @Test func `what can't be moved is named in one sentence`() async throws {
    try await withFakeS3 { store in
      let server = try await TestServer(storage: folder.file("storage"))
      #expect(await server.program.stop() == 0)
      let known = "s3://\(FakeS3Server.bucket)/a"
      let cases: [(String, [String: String], Int32, String)] = [
        (known, ["AWS_SECRET_ACCESS_KEY": "other"], 2, "AWS_SECRET_ACCESS_KEY"),
        ("s3://nowhere/a", [:], 2, "There is no bucket nowhere"),
        ("s3://X", [:], 2, "the bucket's name is invalid"),
        (known, ["SNAPSHOT_SERVER_SHARED_ENDPOINT": "http://127.0.0.1:1"], 1, "does not answer"),
        ("http://host/a", [:], 64, "neither a folder nor an address"),
      ]
      for (target, environment, status, words) in cases {
        let outcome = try await migrate(path("storage"), target, at: store, environment: environment)
        #expect(outcome.status == status && outcome.errors.contains(words), "\(outcome.errors)")
      }
      let mistyped = try await migrate("s3://\(FakeS3Server.bucket)/b", path("new"), at: store)
      #expect(mistyped.status == 2 && mistyped.errors.contains("There are no snapshots at s3://tests/b/"))
      #expect(store.keys.isEmpty)
    }
  }
}
