import Foundation
import SnapshotFormat
import TestSupport
import Testing

/// The behaviour of the server at the system's resource limits.
@Suite(.enabled(if: Tool.find("prlimit") != nil, "prlimit sets the limits"))
struct ResourceLimitTests {
  @Test(.disabled(if: Sanitizer.isActive, "the limit ends ThreadSanitizer itself"))
  func `an upload beyond the file size limit is refused and leaves no file`() async throws {
    let folder = try TemporaryFolder()
    let (small, large) = (
      try await Self.bundle(of: 1000, in: folder), try await Self.bundle(of: 300_000, in: folder)
    )
    let server = try await TestServer(storage: folder.file("storage"), limits: ["--fsize=200000"])
    #expect(try await Self.attach(small, to: server).status == 201)
    let refused = try await Self.attach(large, to: server)
    #expect(refused.status == 507)
    #expect(try refused.json["type"] as? String == "urn:data-snapshots:problem:out-of-space")
    #expect(try Self.staged(in: folder) == [])
    #expect(try await Self.attach(small, to: server).status == 201)
    #expect(await server.program.stop() == 0)
  }

  @Test
  func `without free descriptors the server serves existing connections, and accepts others later`()
    async throws
  {
    let folder = try TemporaryFolder()
    let zip = try await Self.bundle(of: 1000, in: folder)
    let server = try await TestServer(
      storage: folder.file("storage"), environment: ["SNAPSHOT_SERVER_EVENT_LOOPS": "1"],
      limits: ["--nofile=64"])
    let attached = try await Self.attach(zip, to: server)
    #expect(attached.status == 201)
    let id = try #require(try attached.json["id"] as? String)
    let port = UInt16(try #require(server.url.port))
    let bytes = try Data(contentsOf: zip)

    try await RawHTTPClient.run {
      func get(_ path: String, _ client: RawHTTPClient) throws -> Int {
        try client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
        return try client.receiveResponse().status
      }
      let known = try RawHTTPClient(port: port)
      #expect(try get("/healthz", known) == 200)
      var others = try (0..<80).map { _ in try RawHTTPClient(port: port) }
      for client in others { try client.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n") }
      // Some descriptors are reserved for files.
      for _ in 0..<100 { #expect(try get("/v1/snapshots/\(id).zip", known) == 200) }
      try known.send(
        "PUT /v1/reports/R/snapshots/\(SnapshotID()) HTTP/1.1\r\nHost: a\r\n"
          + "Content-Type: application/zip\r\nContent-Length: \(bytes.count)\r\n\r\n")
      try known.send(Array(bytes))
      #expect(try known.receiveResponse().status == 201)
      others.removeFirst(79)
      #expect(try others[0].receiveResponse().status == 200)
    }
    #expect(try await Self.attach(zip, to: server).status == 201)
    #expect(try Self.staged(in: folder) == [])
    #expect(await server.program.stop() == 0)
    #expect(try server.program.errors.contains("accepting pauses"))
  }

  private static func bundle(of count: Int, in folder: TemporaryFolder) async throws -> URL {
    // Incompressible bytes.
    var generator = SystemRandomNumberGenerator()
    let bytes = Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    try folder.write(bytes, to: "source-\(count)/data")
    let zip = folder.file("bundle-\(count).zip")
    let outcome = try await Product.run([
      "pack", folder.file("source-\(count)").path, "--output", zip.path,
    ])
    try #require(outcome.status == 0, "\(outcome.errors)")
    return zip
  }

  private static func attach(_ zip: URL, to server: TestServer) async throws -> Curl {
    try await Curl([
      "-T", zip.path, "-H", "Content-Type: application/zip",
      server.address("/v1/reports/R/snapshots/\(SnapshotID())"),
    ])
  }

  private static func staged(in folder: TemporaryFolder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.file("storage/uploads").path)
  }
}
