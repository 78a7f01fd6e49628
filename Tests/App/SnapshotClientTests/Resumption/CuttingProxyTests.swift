import Foundation
import SnapshotClient
import SnapshotFormat
import TestSupport
import Testing

/// Wherever a connection breaks, the complete bundle is stored exactly once.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct CuttingProxyTests {
  private let contents = makeBytes(1200)
  private let report: ReportID

  init() throws { report = try ReportID(validating: "BUG-1") }

  /// Uploads through a proxy that cuts the connection at `cut`.
  private func upload(_ cut: CuttingProxy.Cut) async throws {
    let folder = try TemporaryFolder()
    let bundle = try folder.write(contents, to: "bundle.zip")
    let server = try DraftServer { $0.progressBytes = 300 }
    let proxy = try CuttingProxy(to: server.scripted.port, cut)
    var configuration = SnapshotAPIClient.Configuration.forTests()
    configuration.resumption.threshold = 1
    let client = try SnapshotAPIClient(server: proxy.url, configuration: configuration)
    let id = SnapshotID()
    let record = try await client.attach(bundle, to: report, as: id, state: folder.file("upload.json"))
    #expect(record.sha256 == .of(contents), "\(cut)")
    #expect(server.attached == ["/v1/reports/BUG-1/snapshots/\(id)": contents], "\(cut)")
    #expect(server.received.reduce(0, +) == contents.count, "\(cut)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["bundle.zip"], "\(cut)")
  }

  /// Every 29th position; all positions if the environment variable is set.
  private static func positions(_ range: Range<Int>) -> [Int] {
    let step = ProcessInfo.processInfo.environment["CUT_EVERYWHERE"] == nil ? 29 : 1
    return Array(stride(from: range.lowerBound, to: range.upperBound, by: step))
  }

  private func uploadAll(_ cuts: [CuttingProxy.Cut]) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, cut) in cuts.enumerated() {
        if number >= 4 { try await group.next() }
        group.addTask { try await upload(cut) }
      }
      try await group.waitForAll()
    }
  }

  @Test func `a cut after any number of bytes sent loses nothing`() async throws {
    try await uploadAll(Self.positions(0..<2600).map { .onceAfterSending($0) })
  }

  @Test func `a cut after any number of bytes received loses nothing`() async throws {
    try await uploadAll(Self.positions(0..<1700).map { .onceAfterReceiving($0) })
  }

  @Test func `with connections that all break after a while, the upload still succeeds`() async throws {
    try await uploadAll(Self.positions(700..<2200).map { .eachAfterSending($0) })
  }

  @Test func `the proxy cuts at the given position`() async throws {
    let server = try ScriptedServer { connection in
      let (_, body) = try connection.readRequest()
      try connection.respond("200 OK", body: body)
    }
    let proxy = try CuttingProxy(to: server.port, .onceAfterSending(10))
    let request = Array("PUT / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc".utf8)
    let first = try await RawHTTPClient.run { () -> Bool in
      let client = try RawHTTPClient(port: proxy.port)
      try client.send(request)
      do { return try client.receiveAll().isEmpty } catch { return true }
    }
    #expect(first && proxy.count == 1)
    let second = try await RawHTTPClient.run {
      let client = try RawHTTPClient(port: proxy.port)
      try client.send(request)
      return try client.receiveResponse().text
    }
    #expect(second == "abc" && proxy.count == 1)
  }
}
