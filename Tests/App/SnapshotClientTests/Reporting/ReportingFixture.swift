import Foundation
import HTTPClient
import SnapshotClient
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// A queue's folder, a clock and a server for one test.
struct ReportingFixture {
  let folder: TemporaryFolder
  let clock = ManualClock()
  let report: ReportID

  init() throws {
    folder = try TemporaryFolder()
    report = try ReportID(validating: "BUG-1")
    try folder.write(makeBytes(20_000), to: "recorded")
  }

  var queue: URL { folder.file("queue") }

  /// The files in the queue's folder, except the lock.
  func files(at queue: URL? = nil) throws -> [String] {
    let root = (queue ?? self.queue).path
    func walk(_ path: String) throws -> [String] {
      try Folder.entries(root + path).flatMap { name -> [String] in
        let next = path + "/" + name
        return Folder.isFolder(root + next) ? try walk(next) : [String(next.dropFirst())]
      }
    }
    return try walk("").filter { $0 != "lock" }
  }

  func client(_ transport: any Transport, token: String? = nil) throws -> SnapshotAPIClient {
    try SnapshotAPIClient(
      server: try #require(URL(string: "http://localhost:1")), token: token, transport: transport,
      configuration: .forTests())
  }

  func configuration(_ change: (inout UploadQueue.Configuration) -> Void = { _ in })
    -> UploadQueue.Configuration
  {
    var configuration = UploadQueue.Configuration()
    configuration.environment = ClientEnvironment(
      now: { [clock] in clock.now }, sleep: { [clock] in try await clock.sleep($0) }, random: { 0 })
    change(&configuration)
    return configuration
  }

  /// Creates a reporter that packs `folder/recorded`.
  func reporter(
    _ transport: any Transport, at queue: URL? = nil,
    _ change: (inout UploadQueue.Configuration) -> Void = { _ in }
  ) throws -> BugReporter {
    try BugReporter(
      queue: queue ?? self.queue, client: client(transport), configuration: configuration(change),
      freeze: freezer)
  }

  /// Packs the recorded file.
  var freezer: BugReporter.Freezer {
    { [recorded = folder.file("recorded")] bug, zip in
      let manifest = Manifest(
        id: bug.id, createdAt: Date(timeIntervalSince1970: 1_700_000_000),
        application: .init(identifier: "com.example.news", version: "3.1.4", build: "159"),
        device: .init(model: "x86_64", system: "Linux", systemVersion: "6.1", locale: "de_AT"),
        report: bug.report,
        note: bug.note, fields: bug.fields)
      let source = SnapshotBundle.Source(identifier: "feed", file: recorded, recordedAt: manifest.createdAt)
      return try SnapshotBundle.pack([source], describedBy: manifest, to: zip)
    }
  }
}

extension UploadQueue {
  /// Waits until the upload of `id` meets a condition.
  @discardableResult
  func upload(_ id: SnapshotID, when isAwaited: (QueuedUpload) -> Bool) async throws -> QueuedUpload {
    for await item in updates() where item.id == id && isAwaited(item) { return item }
    throw CancellationError()
  }

  /// Waits until the upload of `id` waits for `wait`.
  @discardableResult
  func upload(_ id: SnapshotID, waitingFor wait: QueuedUpload.Wait) async throws -> QueuedUpload {
    try await upload(id) { $0.state == .waiting(wait) }
  }
}

/// Returns the error that `body` throws.
func reportingError(_ body: () async throws -> Void) async -> ReportingError? {
  do {
    try await body()
    return nil
  } catch {
    return error as? ReportingError
  }
}
