import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Logging
import Observability
import PrometheusMetrics
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import SnapshotServer
import StoreTesting
import TestSupport
import Testing

/// Metrics and audit lines of uploads that take several requests.
@Suite struct UploadObservationTests {
  private let folder: TemporaryFolder
  private let registry = PrometheusRegistry()
  private let bundle: ZippedSample
  private let api: TestAPI

  init() throws {
    folder = try TemporaryFolder()
    bundle = try ZippedSample()
    let audit = try AuditLog(
      .together(folder.file("audit.log").path),
      logger: Logger(label: "test") { _ in CapturedLog() })
    api = TestAPI(observation: Observation(metrics: ServerMetrics(registry), audit: audit))
  }

  private var counts: [String: String] {
    var counts: [String: String] = [:]
    for match in registry.text().matches(of: /snapshot_uploads_total\{outcome="([a-z-]+)"\} (\d+)/) {
      counts[String(match.1)] = String(match.2)
    }
    return counts
  }

  private func events() throws -> [[String: JSONValue]] {
    try String(contentsOf: folder.file("audit.log"), encoding: .utf8).split(separator: "\n").map {
      try JSONDecoder().decode([String: JSONValue].self, from: Data($0.utf8))
    }
  }

  @Test func `an upload is counted once, when it ends`() async throws {
    let half = bundle.bytes.count / 2
    let path = try await api.open(bundle.bytes.count, [("report", "BUG-1"), ("id", "\(bundle.id)")])
    try await api.patch(path, at: 0, bundle.bytes[..<half])
    try await api.patch(path, at: 0, bundle.bytes[..<half])
    try await api.tus(.head, path)
    try await api.tus(.post, path, [.xHTTPMethodOverride: "HEAD"])
    #expect(counts == [:])
    try await api.patch(path, at: half, bundle.bytes[half...])
    #expect(counts == ["created": "1"])
    let wrong = try await api.open(3)
    try await api.patch(wrong, at: 0, [1, 2, 3])
    #expect(counts == ["created": "1", "invalid-bundle": "1"])
    try await api.tus(.delete, wrong)
    let fields: HTTPFields = [.uploadComplete: "?0"]
    let opened = try await api.upload(Array(bundle.bytes[..<half]), .put, id: bundle.id, fields: fields)
    #expect(counts == ["created": "1", "invalid-bundle": "1"])
    try await api.send(
      .patch, try #require(opened.fields[.location]),
      [.uploadComplete: "?1", .uploadOffset: "\(half)", .contentType: "application/partial-upload"],
      body: .pieces(of: Array(bundle.bytes[half...])))
    #expect(counts == ["created": "1", "invalid-bundle": "1", "repeated": "1"])
  }

  @Test func `the audit log contains every request to an upload`() async throws {
    let path = try await api.open(bundle.bytes.count, [("report", "BUG-1"), ("id", "\(bundle.id)")])
    try await api.patch(path, at: 5, [1])
    try await api.patch(path, at: 0, bundle.bytes)
    try await api.tus(.head, path)
    try await api.tus(.delete, path)
    let events = try events()
    #expect(
      events.map { $0["action"] } == [
        "openUpload", "appendToUpload", "appendToUpload", "readUpload", "endUpload",
      ])
    #expect(events.map { $0["status"] } == [201, 409, 204, 200, 204])
    #expect(events[1]["problem"] == "mismatching-upload-offset")
    for index in [0, 2, 3] {
      #expect(events[index]["report"] == "BUG-1")
      #expect(events[index]["snapshot"]?.text == "\(bundle.id)")
    }
  }
}
