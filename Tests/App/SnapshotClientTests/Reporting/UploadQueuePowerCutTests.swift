import Foundation
import HTTPTransport
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

@testable import SnapshotClient

/// Wherever the app ends or the power fails: what was attached goes out in the end, and nothing else is there.
@Suite struct UploadQueuePowerCutTests {
  private struct Promise: Sendable {
    /// What was attached and is not removed; `nil` while nobody knows.
    var attached: [SnapshotID]? = []
    /// Whether the server has it, and that was noted.
    var isDone = false
  }

  private let fixture: ReportingFixture

  init() throws { fixture = try ReportingFixture() }

  private func queue(_ path: String) -> URL { URL(filePath: path + "/app/reports/queue") }

  /// Attaches, uploads at the second try, and removes.
  private func work(on disk: PowerCutDisk<Promise>, _ transport: UploadTransport) async throws -> SnapshotID {
    let reporter = try fixture.reporter(transport, at: queue(disk.path))
    disk.promise { $0.attached = nil }
    let id = try await reporter.attach(report: fixture.report)
    disk.promise { $0.attached = [id] }
    let item = try await reporter.queue.upload(id, waitingFor: .time)
    await fixture.clock.reach(try #require(item.nextTry))
    #expect(await reporter.queue.outcome(of: id)?.state == .done)
    disk.promise { $0.isDone = true }
    disk.promise { $0.attached = nil }
    try await reporter.queue.remove(id)
    disk.promise { $0.attached = [] }
    await reporter.queue.close()
    return id
  }

  @Test func `a queue has a bundle whole or not at all, and keeps what was attached`() async throws {
    let disk = try PowerCutDisk(Promise())
    let transport = UploadTransport([.status(500)])
    let id = try await work(on: disk, transport)
    try await disk.forEachCut { remains in
      let server = UploadTransport()
      let reopened = try fixture.reporter(server, at: queue(remains.path))
      #expect(reopened.queue.unreadable.isEmpty, "\(remains.label)")
      let ids = reopened.queue.items.map(\.id)
      #expect(ids == remains.promise.attached ?? (ids.isEmpty ? [] : [id]), "\(remains.label)")
      if !ids.isEmpty {
        let outcome = await reopened.queue.outcome(of: id)
        #expect(outcome?.state == .done, "\(remains.label)")
        // It goes out again only where it is not noted that the server has it, and then it is the same.
        let isSame = server.taken == transport.taken
        #expect(server.taken.isEmpty || isSame && !remains.promise.isDone, "\(remains.label)")
      }
      // A crash may leave the staged file of a note; it goes with the upload.
      let files = try fixture.files(at: queue(remains.path)).filter { !$0.hasSuffix(".staged") }
      #expect(files == ids.map { "items/\($0)/state.json" }, "\(remains.label)")
      await reopened.queue.close()
    }
  }
}
