import Foundation
import HTTPTypes
import SnapshotClient
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct BugReporterTests {
  private let fixture: ReportingFixture

  init() throws { fixture = try ReportingFixture() }

  @Test func `attach returns the snapshot's UUID before anything is uploaded`() async throws {
    let transport = UploadTransport(isHeld: true)
    let reporter = try fixture.reporter(transport)
    let id = try await reporter.attach(report: fixture.report)
    let item = try #require(reporter.queue[id])
    #expect(item.report == fixture.report)
    #expect(item.attachedAt == fixture.clock.now)
    #expect(transport.taken.isEmpty)
    let bundle = try Data(contentsOf: fixture.queue.appending(path: "items/\(id)/bundle.zip"))
    #expect(item.size == Int64(bundle.count))
    #expect(item.sha256 == .of(bundle))

    transport.release()
    #expect(await reporter.queue.outcome(of: id)?.state == .done)
    #expect(transport.taken == [id: bundle])
    #expect(transport.requests.map(\.path) == ["/v1/reports/BUG-1/snapshots/\(id)"])
    #expect(try fixture.files() == ["items/\(id)/state.json"])
  }

  @Test func `later recordings are not in the bundle`() async throws {
    let transport = UploadTransport(isHeld: true)
    let reporter = try fixture.reporter(transport)
    let id = try await reporter.attach(report: fixture.report)
    let frozen = try Data(contentsOf: fixture.queue.appending(path: "items/\(id)/bundle.zip"))
    try fixture.folder.write(makeBytes(10), to: "recorded")
    transport.release()
    _ = await reporter.queue.outcome(of: id)
    #expect(transport.taken[id] == frozen)
  }

  @Test func `a bundle that can't be made leaves no files and reports why`() async throws {
    struct Reason: Error, CustomStringConvertible { let description = "The recorder is on strike." }
    let reporter = BugReporter(queue: try fixture.reporter(UploadTransport()).queue) { _, zip in
      try Data("half".utf8).write(to: zip)
      throw Reason()
    }
    let error = await reportingError { try await reporter.attach(report: fixture.report) }
    #expect(error?.description.contains("on strike") == true)
    #expect(reporter.queue.items.isEmpty)
    #expect(try fixture.files() == [])
  }

  @Test func `a bundle that is reported but does not exist is rejected`() async throws {
    let reporter = BugReporter(queue: try fixture.reporter(UploadTransport()).queue) {
      let packed = try await fixture.freezer($0, $1)
      try Folder.remove($1.path)
      return packed
    }
    let error = await reportingError { try await reporter.attach(report: fixture.report) }
    guard case .disk(let reason) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.isNotFound)
    #expect(try fixture.files() == [])
  }

  @Test func `a UUID can be attached only once`() async throws {
    let zip = fixture.folder.file("one.zip")
    let packed = try await fixture.freezer(BugReport(report: fixture.report), zip)
    let reporter = BugReporter(queue: try fixture.reporter(UploadTransport(isHeld: true)).queue) {
      try FileManager.default.copyItem(at: zip, to: $1)
      return packed
    }
    #expect(try await reporter.attach(report: fixture.report) == packed.manifest.id)
    let error = await reportingError { try await reporter.attach(report: fixture.report) }
    guard case .duplicate(packed.manifest.id) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reporter.queue.items.count == 1)
    #expect(try fixture.files().filter { $0.hasPrefix("staging") } == [])
    await reporter.queue.close()
  }

  @Test func `a closed reporter rejects attachments`() async throws {
    let reporter = try fixture.reporter(UploadTransport())
    await reporter.queue.close()
    let error = await reportingError { try await reporter.attach(report: fixture.report) }
    guard case .closed = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try fixture.files() == [])
  }

  @Test func `concurrent attachments each get a UUID and are uploaded`() async throws {
    let transport = UploadTransport()
    let reporter = try fixture.reporter(transport)
    let ids = try await withThrowingTaskGroup(of: SnapshotID.self) { group in
      for _ in 0..<20 { group.addTask { try await reporter.attach(report: fixture.report) } }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(ids.count == 20)
    for id in ids { #expect(await reporter.queue.outcome(of: id)?.state == .done) }
    #expect(Set(transport.taken.keys) == ids)
    #expect(transport.requests.count == 20)
  }

  @Test func `the freezer gets the report as it is`() async throws {
    let frozen = Lock<BugReport?>(nil)
    let freeze = fixture.freezer
    let reporter = BugReporter(queue: try fixture.reporter(UploadTransport()).queue) { bug, zip in
      frozen.withLock { $0 = bug }
      return try await freeze(bug, zip)
    }
    var bug = BugReport(report: fixture.report, run: .previous)
    bug.attachments = ["screenshot.png": Data([1])]
    bug.excluded = ["news/feed"]
    #expect(try await reporter.attach(bug) == bug.id)
    #expect(frozen.withLock { $0 } == bug)
    let others = [BugReport(report: fixture.report), BugReport(report: fixture.report)]
    #expect(Set(others.map(\.id)).count == 2 && others.allSatisfy { $0.run == .current })
  }

  @Test func `the user's words are in the bundle`() async throws {
    let noted = Lock<Manifest?>(nil)
    let freeze = fixture.freezer
    let reporter = BugReporter(queue: try fixture.reporter(UploadTransport()).queue) { bug, zip in
      let packed = try await freeze(bug, zip)
      noted.withLock { $0 = packed.manifest }
      return packed
    }
    try await reporter.attach(report: fixture.report, note: "It broke", fields: ["severity": "high"])
    #expect(noted.withLock { $0?.note } == "It broke")
    #expect(noted.withLock { $0?.fields } == ["severity": "high"])
    let limit = Manifest.Limits.default.noteLength
    let error = await reportingError {
      try await reporter.attach(report: fixture.report, note: String(repeating: "x", count: limit + 1))
    }
    #expect(error?.description.contains("the limit is \(limit)") == true)
  }
}
