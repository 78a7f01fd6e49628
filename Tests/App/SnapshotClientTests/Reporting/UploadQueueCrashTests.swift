import Foundation
import HTTPClient
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

@testable import SnapshotClient

/// A failure at any step of a queue: the attached bundles are uploaded in the end, and no other files remain.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct UploadQueueCrashTests {
  private let fixture: ReportingFixture

  init() throws { fixture = try ReportingFixture() }

  /// Records each step before it runs, or makes it fail.
  private final class Probe: Sendable {
    let steps = Lock([String]())
    let failing = Lock<[QueueFolder.Step: Int32]>([:])

    func willDo(_ step: QueueFolder.Step) throws(SystemError) {
      steps.withLock { $0.append("\(step)") }
      if let code = failing.withLock({ $0[step] }) { throw SystemError(operation: "\(step)", code: code) }
    }
  }

  private func reporter(
    _ probe: Probe, _ transport: any Transport, _ change: (inout UploadQueue.Configuration) -> Void = { _ in }
  ) throws -> BugReporter {
    let folder = try QueueFolder(fixture.queue.path) { (step) throws(SystemError) in try probe.willDo(step) }
    let queue = try UploadQueue(
      folder: folder, fixture.client(transport), fixture.configuration(change))
    return BugReporter(queue: queue, freeze: fixture.freezer)
  }

  @Test func `an upload takes its steps in order`() async throws {
    let probe = Probe()
    let reporter = try reporter(probe, UploadTransport([.status(500)]))
    let id = try await reporter.attach(report: fixture.report)
    let item = try await reporter.queue.upload(id, waitingFor: .time)
    await fixture.clock.reach(try #require(item.nextTry))
    #expect(await reporter.queue.outcome(of: id)?.state == .done)
    try await reporter.queue.remove(id)
    #expect(
      probe.steps.withLock { $0 } == [
        "stage", "writeState", "publish", "flush", "saveState", "saveState", "removeBundle", "retire",
      ])
  }

  @Test(arguments: [QueueFolder.Step.stage, .writeState, .publish, .flush], [ENOSPC, EIO])
  func `an attachment that fails at any step leaves no files and can be repeated`(
    step: QueueFolder.Step, code: Int32
  ) async throws {
    let probe = Probe()
    let reporter = try reporter(probe, UploadTransport())
    probe.failing.withLock { $0 = [step: code] }
    let error = await reportingError { try await reporter.attach(report: fixture.report) }
    guard case .disk(let reason) = error, reason.code == code else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reporter.queue.items.isEmpty)
    #expect(try fixture.files() == [])
    probe.failing.withLock { $0 = [:] }
    let id = try await reporter.attach(report: fixture.report)
    #expect(await reporter.queue.outcome(of: id)?.state == .done)
  }

  @Test func `on a full disk completed uploads still free their space`() async throws {
    let probe = Probe()
    let transport = UploadTransport([.status(500)])
    let reporter = try reporter(probe, transport)
    let id = try await reporter.attach(report: fixture.report)
    probe.failing.withLock { $0 = [.saveState: ENOSPC] }
    // The failure can't be stored on disk, but is kept in memory.
    let item = try await reporter.queue.upload(id, waitingFor: .time)
    #expect(item.failures == 1)
    await fixture.clock.reach(try #require(item.nextTry))
    #expect(await reporter.queue.outcome(of: id)?.state == .done)
    #expect(try fixture.files() == [])
  }

  @Test func `an upload that can neither be synchronized nor removed is in the queue, and is reported`()
    async throws
  {
    let probe = Probe()
    let transport = UploadTransport(isHeld: true)
    let reporter = try reporter(probe, transport)
    probe.failing.withLock { $0 = [.flush: EIO, .retire: EIO] }
    let error = await reportingError { try await reporter.attach(report: fixture.report) }
    guard case .notFlushed(let id, let reason) = error, reason.code == EIO else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reporter.queue.items.map(\.id) == [id])
    #expect(try fixture.files() == ["items/\(id)/bundle.zip", "items/\(id)/state.json"])
    probe.failing.withLock { $0 = [:] }
    transport.release()
    #expect(await reporter.queue.outcome(of: id)?.state == .done)
    #expect(transport.taken.keys.map(\.self) == [id])
  }

  @Test func `an upload that can't be removed stays in the queue`() async throws {
    let probe = Probe()
    let reporter = try reporter(probe, UploadTransport(isHeld: true))
    let id = try await reporter.attach(report: fixture.report)
    probe.failing.withLock { $0 = [.retire: EIO] }
    await #expect(throws: ReportingError.self) { try await reporter.queue.remove(id) }
    #expect(reporter.queue[id]?.state == .uploading)
    #expect(try fixture.files().count == 2)
    await reporter.queue.close()
  }

  @Test func `unreadable uploads are reported and not changed`() async throws {
    let reporter = try fixture.reporter(UploadTransport()) { $0.network = NetworkPolicy { _ in false } }
    var ids: [SnapshotID] = []
    for _ in 0..<5 { ids.append(try await reporter.attach(report: fixture.report)) }
    await reporter.queue.close()
    let notes = ids.map { fixture.queue.appending(path: "items/\($0)/state.json") }
    let json = try String(contentsOf: notes[1], encoding: .utf8)
    try Data("{".utf8).write(to: notes[0])
    try Data(json.replacing("\"version\" : 1", with: "\"version\" : 2").utf8).write(to: notes[1])
    try Data(repeating: 0x20, count: Int(QueueFolder.noteBytes) + 1).write(to: notes[2])
    try FileManager.default.removeItem(at: notes[3])
    try fixture.folder.write(Data(), to: "queue/items/.DS_Store")
    let before = try fixture.files()

    let queue = try fixture.reporter(UploadTransport()).queue
    #expect(await queue.outcome(of: ids[4])?.state == .done)
    #expect(queue.items.map(\.id) == [ids[4]])
    let reasons = Dictionary(
      uniqueKeysWithValues: queue.unreadable.map { ($0.folder.lastPathComponent, $0.reason) })
    #expect(Set(reasons.keys) == Set(ids[..<4].map(\.description)))
    #expect(reasons["\(ids[1])"]?.contains("newer version") == true)
    #expect(try fixture.files() == before.filter { $0 != "items/\(ids[4])/bundle.zip" })
    await queue.close()

    // The app is upgraded again.
    try Data(json.utf8).write(to: notes[1])
    let later = try fixture.reporter(UploadTransport()).queue
    #expect(await later.outcome(of: ids[1])?.state == .done)
  }

  @Test func `a closed queue unlocks its folder, even if it is still referenced`() async throws {
    let folder = try QueueFolder(fixture.queue.path)
    let queue = try UploadQueue(folder: folder, fixture.client(UploadTransport()), fixture.configuration())
    await queue.close()
    _ = try fixture.reporter(UploadTransport())
    folder.close()
  }

  @Test func `other files beside a bundle are kept and removed with it`() async throws {
    let transport = UploadTransport([.status(500)])
    let reporter = try fixture.reporter(transport)
    let id = try await reporter.attach(report: fixture.report)
    try await reporter.queue.upload(id, waitingFor: .time)
    try fixture.folder.write(Data("offset 5".utf8), to: "queue/items/\(id)/upload.json")
    await reporter.queue.close()
    let reopened = try fixture.reporter(transport)
    #expect(try fixture.files().contains("items/\(id)/upload.json"))
    try await reopened.queue.remove(id)
    #expect(try fixture.files() == [])
  }

  #if os(Linux) || os(macOS)
    @Test func `an upload attached by a killed process starts at the next launch`() async throws {
      let (queue, path) = (fixture.queue.path, fixture.folder.path)
      await #expect(processExitsWith: .signal(SIGKILL)) { [queue = queue as String, path = path as String] in
        let other = try ReportingFixture()
        let reporter = try other.reporter(UploadTransport(isHeld: true), at: URL(filePath: queue))
        let ids = [
          try await reporter.attach(report: other.report), try await reporter.attach(report: other.report),
        ]
        try await reporter.queue.upload(ids[0]) { $0.progress != nil }
        try Data("\(ids[0])\n\(ids[1])".utf8).write(to: URL(filePath: path + "/ids"))
        kill(getpid(), SIGKILL)
      }
      let ids = try String(contentsOf: fixture.folder.file("ids"), encoding: .utf8)
        .split(separator: "\n").compactMap { SnapshotID(String($0)) }
      #expect(ids.count == 2)
      let transport = UploadTransport()
      let reporter = try fixture.reporter(transport)
      for id in ids { #expect(await reporter.queue.outcome(of: id)?.state == .done) }
      #expect(Set(transport.taken.keys) == Set(ids))
    }
  #endif
}
