import Crypto
import Foundation
import SnapshotFormat
import TestSupport
import Testing

/// The state of the storage after the server was killed.
@Suite struct CrashTests {
  @Test func `every acknowledged bundle is intact after a kill during parallel uploads`()
    async throws
  {
    let folder = try TemporaryFolder()
    let storage = folder.file("storage")
    var bundles: [(zip: URL, id: SnapshotID)] = []
    for seed in 0..<16 { bundles.append(try await Sample.bundle(in: folder, count: 40, seed: seed)) }

    let server = try await TestServer(storage: storage)
    let acknowledged = try await withThrowingTaskGroup(of: [SnapshotID: Data].self) { group in
      for (zip, _) in bundles {
        group.addTask { try await Self.uploadUntilKilled(zip, to: server) }
      }
      // If there are more snapshots than lanes, a lane has received its first response. The others are in the middle of
      // a request.
      let list = server.address("/v1/reports/CRASH/snapshots?limit=1&total=true")
      while try await Curl([list]).json["total"] as? Int ?? 0 <= bundles.count {}
      await server.program.stop(SIGKILL)
      return try await group.reduce(into: [:]) { $0.merge($1) { $1 } }
    }
    #expect(!acknowledged.isEmpty)

    let restarted = try await TestServer(storage: storage)
    for (id, digest) in acknowledged {
      let fetched = try await Curl([restarted.address("/v1/snapshots/\(id).zip")])
      #expect(fetched.status == 200)
      #expect(Data(SHA256.hash(data: fetched.body)) == digest)
    }
    // The remains of uploads are removed in the background.
    while try await Curl([restarted.address("/readyz")]).json["status"] as? String != "ready" {}
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: storage.appending(path: "uploads").path).isEmpty)
  }

  /// Attaches the bundle repeatedly under new UUIDs, and returns the acknowledged ones with their digests.
  private static func uploadUntilKilled(_ zip: URL, to server: TestServer) async throws -> [SnapshotID: Data]
  {
    let digest = Data(SHA256.hash(data: try Data(contentsOf: zip)))
    var acknowledged: [SnapshotID: Data] = [:]
    for _ in 0..<1000 {
      let id = SnapshotID()
      let outcome = try await Tool.run(
        "curl",
        [
          "-s", "-o", "/dev/null", "-w", "%{http_code}", "--max-time", "30", "-T", zip.path, "-H",
          "Content-Type: application/zip", server.address("/v1/reports/CRASH/snapshots/\(id)"),
        ])
      guard outcome.text == "201" else { break }
      acknowledged[id] = digest
    }
    return acknowledged
  }

  @Test func `a second server with the same storage is refused`() async throws {
    let folder = try TemporaryFolder()
    let first = try await TestServer(storage: folder.file("storage"))
    let second = try await Product.run(["serve", "--port", "0", "--storage", folder.file("storage").path])
    #expect(second.status == 1)
    #expect(second.errors.contains("storage"))
    #expect(await first.program.stop() == 0)
  }
}
