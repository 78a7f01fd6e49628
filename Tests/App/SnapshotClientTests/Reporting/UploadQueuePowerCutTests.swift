import Foundation
import HTTPClient
import SnapshotClient
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// A crash or power failure at any time: the attached bundles are uploaded in the end, and no other files remain.
@Suite struct UploadQueuePowerCutTests {
  private struct Promise: Sendable {
    /// The bundles that are attached and not removed; `nil` while that is undetermined.
    var attached: [SnapshotID]? = []
    /// Whether the server has stored the bundle, and the queue has recorded that.
    var isDone = false
  }

  private let fixture: ReportingFixture

  init() throws { fixture = try ReportingFixture() }

  private func queue(_ path: String) -> URL { URL(filePath: path + "/app/reports/queue") }

  /// Attaches a bundle, uploads it at the second attempt, and removes it.
  private func work(
    on disk: PowerCutDisk<Promise>, _ transport: UploadTransport, _ freezer: @escaping BugReporter.Freezer
  ) async throws -> SnapshotID {
    let reporter = try BugReporter(
      queue: queue(disk.path), client: fixture.client(transport), configuration: fixture.configuration(),
      freeze: freezer)
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

  /// Writes the bundle without a flush, which is up to the queue.
  private var withoutFlush: BugReporter.Freezer {
    { [fixture] bug, zip in
      let other = fixture.folder.file("packed.zip")
      let packed = try await fixture.freezer(bug, other)
      try File(zip.path, .create(mode: 0o600)).write(Array(Data(contentsOf: other)), at: 0)
      return packed
    }
  }

  @Test(arguments: [true, false])
  func `a queue has complete bundles only, and keeps those attached`(isFlushed: Bool) async throws {
    let disk = try PowerCutDisk(Promise())
    let transport = UploadTransport([.status(500)])
    let id = try await work(on: disk, transport, isFlushed ? fixture.freezer : withoutFlush)
    try await disk.forEachCut { remains in
      let server = UploadTransport()
      let reopened = try fixture.reporter(server, at: queue(remains.path))
      #expect(reopened.queue.unreadable.isEmpty, "\(remains.label)")
      let ids = reopened.queue.items.map(\.id)
      #expect(ids == remains.promise.attached ?? (ids.isEmpty ? [] : [id]), "\(remains.label)")
      if !ids.isEmpty {
        let outcome = await reopened.queue.outcome(of: id)
        #expect(outcome?.state == .done, "\(remains.label)")
        // The bundle is uploaded again only if its upload was not recorded, and then with the same bytes.
        let isSame = server.taken == transport.taken
        #expect(server.taken.isEmpty || isSame && !remains.promise.isDone, "\(remains.label)")
      }
      // A crash can leave the temporary file of a note, which is removed together with the upload.
      let files = try fixture.files(at: queue(remains.path)).filter { !$0.hasSuffix(".staged") }
      #expect(files == ids.map { "items/\($0)/state.json" }, "\(remains.label)")
      await reopened.queue.close()
    }
  }
}
