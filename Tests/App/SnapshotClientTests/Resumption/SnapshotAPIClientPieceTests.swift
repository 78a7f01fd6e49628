import Foundation
import HTTPClient
import SnapshotClient
import SnapshotFormat
import TestSupport
import Testing

/// The pieces of a resumable upload, and its progress.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct SnapshotAPIClientPieceTests: ResumedUploads {
  let upload: ResumedUpload

  init() throws { upload = try ResumedUpload() }

  // MARK: Pieces

  @Test(arguments: [
    (30_000, [30_000, 30_000, 30_000, 10_000]), (50_000, [50_000, 50_000]), (100_000, [100_000]),
  ])
  func `no piece exceeds the limit of a proxy, from the policy or the server`(
    sample: (most: Int, pieces: [Int])
  )
    async throws
  {
    let told = try DraftServer { $0.longestBody = sample.most }
    try await client(told.url) { $0.resumption.maximumRequestBody = Int64(sample.most) }
      .attach(bundle, to: report, as: id)
    #expect(told.received == sample.pieces)
    let telling = try DraftServer { $0.limits = "max-append-size=\(sample.most), min-append-size=1, new=?1" }
    try await client(telling.url).attach(bundle, to: report, as: id)
    #expect(telling.received == sample.pieces)
    #expect(telling.attached == told.attached)
  }

  @Test func `a small bundle is sent in pieces too if a proxy limits the size`() async throws {
    let server = try DraftServer { $0.longestBody = 99_999 }
    let client = try client(server.url) {
      $0.resumption.threshold = nil
      $0.resumption.maximumRequestBody = 99_999
    }
    try await client.attach(bundle, to: report, as: id)
    #expect(server.received == [99_999, 1])
  }

  @Test func `a piece that is too large for a proxy is halved`() async throws {
    let large = makeBytes(3_000_000)
    try folder.write(large, to: "bundle.zip")
    let server = try DraftServer { $0.longestBody = 300_000 }
    try await client(server.url).attach(bundle, to: report, as: id)
    #expect(server.attached == [target: large])
    #expect(server.received.allSatisfy { $0 <= 300_000 && $0 > 100_000 || $0 == server.received.last })
  }

  @Test func `pieces grow on a fast connection`() async throws {
    let large = makeBytes(8_000_000)
    try folder.write(large, to: "bundle.zip")
    let server = try DraftServer()
    try await client(server.url) { $0.resumption.pieceSeconds = 1000 }.attach(bundle, to: report, as: id)
    #expect(server.attached == [target: large])
    #expect(server.received == [1 << 20, 1 << 21, 1 << 22, 8_000_000 - (7 << 20)])
  }

  // MARK: Progress

  @Test func `progress counts the bytes that the server has`() async throws {
    let server = try DraftServer { $0.progressBytes = 10_000 }
    server.fail("PATCH", .cut(afterBodyBytes: 50_000))
    let log = ProgressLog()
    try await client(server.url).attach(bundle, to: report, as: id) { log.record($0) }
    let told = log.states.map(\.completed)
    #expect(told.first == 0)
    #expect(told.last == 100_000)
    #expect(told == told.sorted())
    #expect(told.contains(50_000))
    #expect(log.states.allSatisfy { $0.total == 100_000 })
    #if os(Linux)
      #expect(told.contains { $0 > 50_000 && $0 < 100_000 })
    #endif
  }

  @Test func `bytes without acknowledgement do not count as progress`() async throws {
    let server = try DraftServer()
    let log = ProgressLog()
    server.fail("PATCH", .cut(afterBodyBytes: 99_999), .answer("503 No"))
    server.fail("HEAD", .answer("503 No"), .answer("503 No"), .answer("503 No"))
    _ = await clientError {
      try await client(server.url).attach(bundle, to: report, as: id) { log.record($0) }
    }
    #expect(log.states.map(\.completed) == [0])
  }

  @Test func `a cancelled upload ends immediately and can be resumed`() async throws {
    let script = try ScriptedServer { connection in
      let head = try connection.readHead()
      if head.method == "PUT" {
        try connection.respond(
          "201 Created", ["Location: /v1/uploads/1", "Upload-Limit: min-size=0", "Upload-Complete: ?0"])
      } else {
        try connection.waitForClose()
      }
    }
    let client = try client(script.url)
    let task = Task { try await client.attach(bundle, to: report, as: id, state: state) }
    while script.requests.count < 2 { await Task.yield() }
    task.cancel()
    let error = await clientError { try await task.value }
    #expect(error?.code == .cancelled)
    #expect(FileManager.default.fileExists(atPath: state.path))
  }
}
