import Foundation
import SnapshotFormat
import TestSupport
import Testing

/// The built server on a full disk.
@Suite(
  .timeLimit(.minutes(5 * Sanitizer.slowness)),
  .enabled("\(SmallDisk.requirement)") { await SmallDisk.isPossible })
struct FullDiskTests {
  private static let reserve: Int64 = 1 << 20
  private let folder: TemporaryFolder
  private let disk: SmallDisk

  init() async throws {
    folder = try TemporaryFolder()
    disk = try await SmallDisk(bytes: 24 << 20)
  }

  private func start() async throws -> TestServer {
    try await TestServer(
      storage: disk.mounted.appending(path: "storage"),
      environment: ["SNAPSHOT_SERVER_RESERVED_BYTES": "\(Self.reserve)"], on: disk)
  }

  private func attach(_ bundle: (zip: URL, id: SnapshotID), to server: TestServer) async throws -> Curl {
    try await Curl([
      "-T", bundle.zip.path, "-H", "Content-Type: application/zip",
      server.address("/v1/reports/BUG-1/snapshots/\(bundle.id)"),
    ])
  }

  /// Packs files into a bundle.
  private func pack(_ name: String, _ files: [String: Data]) async throws -> (zip: URL, id: SnapshotID) {
    for (file, data) in files { try folder.write(data, to: "\(name)/\(file)") }
    let zip = folder.file("\(name).zip")
    let outcome = try await Product.run(["pack", folder.file(name).path, "--output", zip.path])
    try #require(outcome.status == 0, "\(outcome.errors)")
    return (zip, try #require(SnapshotID(outcome.lines[0])))
  }

  @Test func `without a free byte, snapshots are read and deleted, each with its audit line`() async throws {
    let server = try await start()
    var bundles: [(zip: URL, id: SnapshotID)] = []
    for seed in 0..<4 { bundles.append(try await Sample.bundle(in: folder, seed: seed)) }
    for bundle in bundles.dropLast() { #expect(try await attach(bundle, to: server).status == 201) }
    try disk.fill()
    // More lines than fit into the last block of the file.
    for _ in 0..<30 {
      #expect(try await Curl([server.address("/v1/snapshots/\(bundles[0].id).zip")]).status == 200)
    }
    #expect(try await attach(bundles[3], to: server).status == 507)
    for bundle in bundles[1...2] {
      let address = server.address("/v1/snapshots/\(bundle.id)")
      #expect(try await Curl(["-X", "DELETE", address]).status == 204)
      try disk.fill()
      #expect(try await Curl([address]).status == 410)
      let list = try await Curl([server.address("/v1/snapshots")])
      #expect(list.status == 200 && !list.text.contains("\(bundle.id)"))
    }
    let log = try String(contentsOf: disk.file("storage/audit.log"), encoding: .utf8)
    #expect(log.matches(of: /"action":"deleteSnapshot"[^\n]*"result":"done"/).count == 2)
    try disk.empty()
    #expect(try await attach(bundles[3], to: server).status == 201)
    #expect(await server.program.stop() == 0)
  }

  @Test func `a server starts on a full disk, and makes room by deletions`() async throws {
    let former = try await start()
    let bundle = try await Sample.bundle(in: folder, seed: 1)
    #expect(try await attach(bundle, to: former).status == 201)
    #expect(await former.program.stop() == 0)
    try disk.fill()
    let server = try await start()
    let address = server.address("/v1/snapshots/\(bundle.1)")
    #expect(try await Curl([address]).status == 200)
    #expect(try await Curl([server.address("/readyz")]).status == 503)
    #expect(try await Curl(["-X", "DELETE", address]).status == 204)
    #expect(try await Curl([address]).status == 410)
    // The catalogue needs some room.
    try disk.empty()
    var list = try await Curl([server.address("/v1/snapshots")])
    while list.status == 503 { list = try await Curl([server.address("/v1/snapshots")]) }
    #expect(list.status == 200 && !list.text.contains("\(bundle.1)"), "\(list.text)")
    #expect(await server.program.stop() == 0)
  }

  @Test func `without a free inode, a snapshot is deleted, and a refused upload names the inodes`()
    async throws
  {
    let server = try await start()
    let (first, second) = (
      try await Sample.bundle(in: folder, seed: 1), try await Sample.bundle(in: folder, seed: 2)
    )
    #expect(try await attach(first, to: server).status == 201)
    try disk.useInodes()
    let refused = try await attach(second, to: server)
    #expect(refused.status == 507 && refused.text.contains("no inodes left"), "\(refused.text)")
    let ready = try await Curl([server.address("/readyz")])
    #expect(ready.status == 503 && ready.text.contains("out-of-inodes"), "\(ready.text)")
    #expect(try await Curl(["-X", "DELETE", server.address("/v1/snapshots/\(first.1)")]).status == 204)
    let list = try await Curl([server.address("/v1/snapshots")])
    #expect(list.status == 200 && !list.text.contains("\(first.1)"))
    #expect(await server.program.stop() == 0)
  }

  @Test func `copies of viewed files leave the reserve free, and make room for an upload`() async throws {
    let server = try await start()
    let text = Data(String(repeating: "a line of a log\n", count: 4_000_000 / 16).utf8)
    let names = ["a.log", "b.log", "c.log"]
    let viewed = try await pack("viewed", Dictionary(uniqueKeysWithValues: names.map { ($0, text) }))
    #expect(try await attach(viewed, to: server).status == 201)
    // Two and a half copies fit.
    try disk.fill(leaving: Self.reserve + 10_000_000)
    func view(_ name: String) async throws -> Bool {
      let page = try await Curl([
        "-H", "Accept: text/html", server.address("/snapshots/\(viewed.id)/files/recordings/\(name)"),
      ])
      #expect(page.status == 200)
      let isShown = page.text.contains("a line of a log")
      #expect(page.text.contains("disk is full") != isShown)
      return isShown
    }
    var shown: [Bool] = []
    for name in names {
      shown.append(try await view(name))
      #expect(try disk.available >= Self.reserve)
    }
    #expect(shown == [true, true, false])
    var random = SeededGenerator(seed: 1)
    let large = Data((0..<4_000_000).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    #expect(try disk.available - Self.reserve < large.count)
    #expect(try await attach(pack("large", ["large": large]), to: server).status == 201)
    #expect(try await view("a.log"))
    #expect(await server.program.stop() == 0)
  }
}
