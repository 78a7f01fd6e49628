import Foundation
import SnapshotClient
import SnapshotFormat
import TestSupport
import Testing

/// A queue respects its limits, and reports each bundle that it removes.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct UploadQueueLimitTests {
  private let fixture: ReportingFixture

  init() throws { fixture = try ReportingFixture() }

  @Test func `bundles are accepted up to the limit on their number, and one more is rejected`() async throws {
    let reporter = try fixture.reporter(UploadTransport(isHeld: true)) { $0.limits.items = 2 }
    let ids = [
      try await reporter.attach(report: fixture.report), try await reporter.attach(report: fixture.report),
    ]
    let error = await reportingError { try await reporter.attach(report: fixture.report) }
    guard case .full(.items(limit: 2)) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(Set(reporter.queue.items.map(\.id)) == Set(ids))
    #expect(try fixture.files().filter { $0.hasPrefix("staging") } == [])
    await reporter.queue.close()
  }

  @Test(arguments: [-1, 0, 1])
  func `bundles are accepted up to the limit on their bytes, and one more is rejected`(spare: Int64)
    async throws
  {
    // All bundles must have the same size, but the size of a zipped manifest varies with its UUID.
    let zip = fixture.folder.file("sample.zip")
    let packed = try await fixture.freezer(BugReport(report: fixture.report), zip)
    let size = packed.size
    let queue = try fixture.reporter(UploadTransport(isHeld: true)) { $0.limits.bytes = 2 * size + spare }
      .queue
    let reporter = BugReporter(queue: queue) {
      try FileManager.default.copyItem(at: zip, to: $1)
      var copy = packed
      copy.manifest.id = SnapshotID()
      return copy
    }
    try await reporter.attach(report: fixture.report)
    let error = await reportingError { try await reporter.attach(report: fixture.report) }
    if spare < 0 {
      guard case .full(.bytes(limit: 2 * size + spare, bundle: size)) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(reporter.queue.items.count == 1)
      #expect(try fixture.files().count == 2)
    } else {
      #expect(error == nil)
    }
    await queue.close()
  }

  @Test func `failed bundles are removed first, oldest first, and stay listed as failed`() async throws {
    let transport = UploadTransport([.status(422), .status(422)])
    let reporter = try fixture.reporter(transport) { $0.limits.items = 2 }
    var failed: [SnapshotID] = []
    for _ in 0..<2 {
      let id = try await reporter.attach(report: fixture.report)
      failed.append(id)
      #expect(await reporter.queue.outcome(of: id)?.hasBundle == true)
      fixture.clock.set(fixture.clock.now.addingTimeInterval(1))
    }
    let new = try await reporter.attach(report: fixture.report)
    #expect(reporter.queue[failed[0]]?.hasBundle == false)
    #expect(reporter.queue[failed[0]]?.state.isFinal == true)
    #expect(reporter.queue[failed[1]]?.hasBundle == true)
    #expect(try fixture.files().contains("items/\(failed[0])/bundle.zip") == false)
    #expect(throws: ReportingError.self) { try reporter.queue.retryNow(failed[0]) }
    #expect(await reporter.queue.outcome(of: new)?.state == .done)

    await reporter.queue.close()
    let reopened = try fixture.reporter(transport).queue
    #expect(reopened[failed[0]]?.hasBundle == false)
    #expect(reopened[failed[0]]?.lastFailure?.status == 422)
  }

  @Test func `outcomes are listed up to a limit, and the oldest are removed first`() async throws {
    let reporter = try fixture.reporter(UploadTransport()) { $0.limits.outcomes = 2 }
    var ids: [SnapshotID] = []
    for _ in 0..<3 {
      ids.append(try await reporter.attach(report: fixture.report))
      _ = await reporter.queue.outcome(of: ids[ids.count - 1])
      fixture.clock.set(fixture.clock.now.addingTimeInterval(1))
    }
    // The oldest outcome is removed right after the newest upload is done.
    for await item in reporter.queue.updates() where item.state == .removed || reporter.queue[ids[0]] == nil {
      break
    }
    #expect(reporter.queue.items.map(\.id) == Array(ids[1...]))
    #expect(try fixture.files() == ids[1...].map { "items/\($0)/state.json" }.sorted())
  }
}
