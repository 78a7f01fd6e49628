import Foundation
import HTTPClient
import SnapshotClient
import SnapshotFormat
import TestSupport
import Testing

/// Interrupted uploads and their resumption.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct SnapshotAPIClientBreakTests: ResumedUploads {
  let upload: ResumedUpload

  init() throws { upload = try ResumedUpload() }

  // MARK: Interruptions

  @Test(arguments: [0, 1, 40_000, 99_999])
  func `bytes that the server has are not sent again after an interruption`(count: Int) async throws {
    let server = try DraftServer()
    server.fail("PATCH", .cut(afterBodyBytes: count))
    try await client(server.url).attach(bundle, to: report, as: id)
    #expect(server.methods.filter { $0 != "HEAD" } == ["PUT", "PATCH", "PATCH"])
    #expect(server.received == [count, 100_000 - count])
    #expect(server.attached == [target: contents])
  }

  @Test func `after an interruption behind the last byte, only the completion is sent`() async throws {
    let server = try DraftServer()
    server.fail("PATCH", .cut(afterBodyBytes: 100_000))
    try await client(server.url).attach(bundle, to: report, as: id)
    let last = try #require(server.requests.last)
    #expect(server.methods == ["PUT", "PATCH", "HEAD", "PATCH"])
    #expect(last["content-length"] == "0")
    #expect(server.attached == [target: contents])
  }

  @Test func `a lost response is requested again`() async throws {
    let server = try DraftServer()
    server.fail("PUT", .loseAnswer)
    server.fail("PATCH", .loseAnswer, .loseAnswer)
    server.fail("HEAD", .loseAnswer)
    let record = try await client(server.url).attach(bundle, to: report, as: id)
    #expect(record.id == id)
    #expect(server.methods.filter { $0 != "HEAD" } == ["PUT", "PUT", "PATCH", "PATCH", "PATCH"])
    #expect(server.received == [100_000])
    #expect(server.requests.last?["upload-offset"] == "100000")
  }

  @Test func `an upload that makes progress is not given up, even if it is interrupted often`() async throws {
    let server = try DraftServer()
    for _ in 0..<50 { server.fail("PATCH", .cut(afterBodyBytes: 1000)) }
    try await client(server.url, attempts: 2).attach(bundle, to: report, as: id)
    #expect(server.received == Array(repeating: 1000, count: 50) + [50_000])
  }

  @Test func `an upload without progress is given up after the policy's attempts`() async throws {
    let server = try DraftServer()
    for _ in 0..<50 { server.fail("PATCH", .cut(afterBodyBytes: 0)) }
    let error = await clientError { try await client(server.url).attach(bundle, to: report, as: id) }
    #expect(error?.code == .interrupted)
    // The transport itself can repeat a request of which no body bytes were sent.
    #expect(server.methods.count { $0 == "HEAD" } == 3)
  }

  @Test(arguments: [408, 429, 500, 502, 503, 504])
  func `after a temporary failure the server is asked for its offset again`(status: Int) async throws {
    let server = try DraftServer()
    server.fail("PATCH", .answer("\(status) Not now"))
    server.fail("HEAD", .answer("\(status) Not now"))
    try await client(server.url).attach(bundle, to: report, as: id)
    #expect(server.methods == ["PUT", "PATCH", "HEAD", "HEAD", "PATCH"])
  }

  @Test func `the server's offset is used if it differs`() async throws {
    let server = try DraftServer()
    server.fail("PATCH", .cut(afterBodyBytes: 60_000))
    server.fail("HEAD", .answer("204 No Content", ["Upload-Offset: 70000", "Upload-Complete: ?0"]))
    try await client(server.url).attach(bundle, to: report, as: id)
    #expect(
      server.requests.filter { $0.method == "PATCH" }.map { $0["upload-offset"] } == ["0", "70000", "60000"])
    #expect(server.attached == [target: contents])
  }

  @Test(arguments: [404, 410])
  func `an upload that the server lost is restarted`(status: Int) async throws {
    let server = try DraftServer()
    server.fail("PATCH", .cut(afterBodyBytes: 1000))
    server.fail("HEAD", .answer("\(status) Lost"))
    try await client(server.url).attach(bundle, to: report, as: id, state: state)
    #expect(server.methods == ["PUT", "PATCH", "HEAD", "PUT", "PATCH"])
    #expect(server.received == [1000, 100_000])
  }

  @Test func `a server that loses every upload gets the bundle in one request`() async throws {
    let server = try DraftServer()
    for _ in 0..<20 { server.fail("PATCH", .answer("404 Lost")) }
    try await client(server.url).attach(bundle, to: report, as: id)
    #expect(server.methods == ["PUT", "PATCH", "PUT", "PATCH", "PUT", "PATCH", "PUT", "PATCH", "PUT"])
    #expect(server.attached == [target: contents])
  }

  // MARK: Another process

  @Test func `another process sends only the remaining bytes`() async throws {
    let server = try DraftServer()
    server.fail("PATCH", .cut(afterBodyBytes: 70_000))
    let error = await clientError {
      try await client(server.url, attempts: 1).attach(bundle, to: report, as: id, state: state)
    }
    #expect(error?.code == .interrupted)
    let log = ProgressLog()
    try await client(server.url, attempts: 1).attach(bundle, to: report, as: id, state: state) {
      log.record($0)
    }
    #expect(server.methods == ["PUT", "PATCH", "HEAD", "PATCH"])
    #expect(server.received == [70_000, 30_000])
    #expect(log.states.map(\.completed) == [70_000, 100_000])
    #expect(!FileManager.default.fileExists(atPath: state.path))
  }

  @Test func `the state file is readable only by its owner and contains no token`() async throws {
    let server = try DraftServer()
    server.fail("PATCH", .cut(afterBodyBytes: 1))
    _ = await clientError {
      try await client(server.url, token: "s3cret", attempts: 1)
        .attach(bundle, to: report, as: id, state: state)
    }
    let mode = try FileManager.default.attributesOfItem(atPath: state.path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    #expect(!(try String(contentsOf: state, encoding: .utf8)).contains("s3cret"))
  }

  @Test(arguments: ["report", "id", "end", "bytes", "server", "damaged", "empty", "long", "folder"])
  func `the state of another upload, or an invalid one, is ignored`(difference: String) async throws {
    let (server, other) = (try DraftServer(), try DraftServer())
    server.fail("PATCH", .cut(afterBodyBytes: 70_000))
    _ = await clientError {
      try await client(server.url, attempts: 1).attach(bundle, to: report, as: id, state: state)
    }
    switch difference {
    case "bytes": try folder.write(makeBytes(100_001).dropFirst(), to: "bundle.zip")
    case "damaged": try folder.write(Data("{".utf8), to: "upload.json")
    case "empty": try folder.write(Data(), to: "upload.json")
    case "long":
      try folder.write(Data(contentsOf: state) + Data(repeating: 0x20, count: 70_000), to: "upload.json")
    case "folder":
      try FileManager.default.removeItem(at: state)
      try FileManager.default.createDirectory(at: state, withIntermediateDirectories: false)
    default: break
    }
    let server2 = difference == "server" ? other : server
    let record = try await client(server2.url).attach(
      bundle, to: difference == "report" ? ReportID(validating: "BUG-2") : report,
      as: difference == "id" ? SnapshotID() : id, expires: difference == "end" ? SnapshotEnd("1d") : nil,
      state: state)
    #expect(record.sha256 == .of(try Data(contentsOf: bundle)))
    #expect(!server2.methods.contains("HEAD"))
    #expect(server2.received.last == 100_000)
  }
}
