import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// The behaviour of the built server while parts of its storage fail.
@Suite struct FailingStorageTests {
  /// Repeats a request until the response has the status.
  private func wait(for status: Int, _ address: String) async throws {
    for _ in 0..<1000 where try await Curl([address]).status == status { return }
    Issue.record("\(address) never answered \(status)")
  }

  private func attach(_ zip: URL, as id: SnapshotID, to server: TestServer) async throws -> Int {
    try await Curl([
      "-T", zip.path, "-H", "Content-Type: application/zip",
      server.address("/v1/reports/BUG-1/snapshots/\(id)"),
    ]).status
  }

  @Test func `a catalogue that is truncated while in use is rebuilt, and other requests work`()
    async throws
  {
    let folder = try TemporaryFolder()
    let storage = folder.file("storage")
    let server = try await TestServer(storage: storage)
    let (first, firstID) = try await Sample.bundle(in: folder, seed: 1)
    let (second, id) = try await Sample.bundle(in: folder, seed: 2)
    #expect(try await attach(first, as: firstID, to: server) == 201)
    try await wait(for: 200, server.address("/v1/snapshots"))
    for suffix in ["-shm", "-wal", ""] {
      let path = storage.appending(path: "catalog.sqlite" + suffix).path
      guard Folder.isRegularFile(path) else { continue }
      try File(path, .update).truncate(to: 0)
    }
    #expect(try await attach(second, as: id, to: server) == 201)
    #expect(try await Curl([server.address("/v1/snapshots/\(id).zip")]).status == 200)
    try await wait(for: 200, server.address("/v1/snapshots"))
    let list = try await Curl([server.address("/v1/snapshots?total=true")]).json
    #expect(list["total"] as? Int == 2)
    #expect(try await Curl([server.address("/healthz")]).status == 200)
    #expect(await server.program.stop() == 0)
  }

  @Test func `readyz reports a storage that cannot be written, and no other response does`() async throws {
    let folder = try TemporaryFolder()
    let storage = folder.file("storage")
    let server = try await TestServer(storage: storage)
    let (zip, id) = try await Sample.bundle(in: folder)
    try await wait(for: 200, server.address("/readyz"))
    let uploads = storage.appending(path: "uploads").path
    try Folder.remove(uploads)
    try await wait(for: 503, server.address("/readyz"))
    let answer = try await Curl([server.address("/readyz")]).json
    #expect(answer as? [String: String] == ["status": "unwritable", "reason": "failing"])
    #expect(try await Curl([server.address("/healthz")]).status == 200)
    #expect(try await attach(zip, as: id, to: server) == 503)
    try Folder.create(uploads)
    try await wait(for: 200, server.address("/readyz"))
    #expect(try await attach(zip, as: id, to: server) == 201)
    #expect(await server.program.stop() == 0)
  }
}
