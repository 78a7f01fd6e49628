import Foundation
import HTTPTransport
import SnapshotFormat
import Synchronization
import SystemIO
import TestSupport
import Testing

@testable import SnapshotClient

/// Whatever step of a queue fails: what was attached goes out in the end, and nothing else is there.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct UploadQueueCrashTests {
  private let fixture: ReportingFixture

  init() throws { fixture = try ReportingFixture() }

  /// Notes each step before it is done, or fails.
  private final class Probe: Sendable {
    let steps = Mutex([String]())
    let failing = Mutex<[QueueFolder.Step: Int32]>([:])

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
        "stage", "writeNote", "publish", "flush", "saveNote", "saveNote", "removeBundle", "retire",
      ])
  }

  @Test(arguments: [QueueFolder.Step.stage, .writeNote, .publish, .flush], [ENOSPC, EIO])
  func `an attachment that fails at any step leaves nothing and may be made again`(
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

  @Test func `on a full disk what is done still makes room`() async throws {
    let probe = Probe()
    let transport = UploadTransport([.status(500)])
    let reporter = try reporter(probe, transport)
    let id = try await reporter.attach(report: fixture.report)
    probe.failing.withLock { $0 = [.saveNote: ENOSPC] }
    // The failure is not noted on the disk, and holds all the same.
    let item = try await reporter.queue.upload(id, waitingFor: .time)
    #expect(item.failures == 1)
    await fixture.clock.reach(try #require(item.nextTry))
    #expect(await reporter.queue.outcome(of: id)?.state == .done)
    #expect(try fixture.files() == [])
  }

  @Test func `what can neither be flushed nor removed is in the queue, and the caller is told so`()
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

  @Test func `an upload that can't be removed stays`() async throws {
    let probe = Probe()
    let reporter = try reporter(probe, UploadTransport(isHeld: true))
    let id = try await reporter.attach(report: fixture.report)
    probe.failing.withLock { $0 = [.retire: EIO] }
    await #expect(throws: ReportingError.self) { try await reporter.queue.remove(id) }
    #expect(reporter.queue[id]?.state == .uploading)
    #expect(try fixture.files().count == 2)
    await reporter.queue.close()
  }

  @Test func `what can't be read is told and left alone`() async throws {
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

    // The app is newer again.
    try Data(json.utf8).write(to: notes[1])
    let later = try fixture.reporter(UploadTransport()).queue
    #expect(await later.outcome(of: ids[1])?.state == .done)
  }

  @Test func `a closed queue gives its folder back, whoever still knows of it`() async throws {
    let folder = try QueueFolder(fixture.queue.path)
    let queue = try UploadQueue(folder: folder, fixture.client(UploadTransport()), fixture.configuration())
    await queue.close()
    _ = try fixture.reporter(UploadTransport())
    folder.close()
  }

  @Test func `files beside a bundle stay with it and go with it`() async throws {
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
    @Test func `what a killed process attached goes out at the next launch`() async throws {
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
