import Foundation
import HTTPClient
import HTTPTypes
import SnapshotClient
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct UploadQueueTests {
  private let fixture: ReportingFixture

  init() throws { fixture = try ReportingFixture() }

  @Test(arguments: [404, 405, 408, 421, 425, 429, 500, 502, 503, 504, 507])
  func `a temporary failure is retried after a delay`(status: Int) async throws {
    let transport = UploadTransport([.status(status), .status(status)])
    let reporter = try fixture.reporter(transport)
    let start = fixture.clock.now
    let id = try await reporter.attach(report: fixture.report)
    let first = try await reporter.queue.upload(id) { $0.failures == 1 && $0.state == .waiting(.time) }
    #expect(first.lastFailure?.status == status)
    #expect(first.nextTry == start.addingTimeInterval(2.5))
    await fixture.clock.reach(try #require(first.nextTry))
    let second = try await reporter.queue.upload(id) { $0.failures == 2 && $0.state == .waiting(.time) }
    #expect(second.nextTry == start.addingTimeInterval(2.5 + 5))
    await fixture.clock.reach(try #require(second.nextTry))
    let done = try #require(await reporter.queue.outcome(of: id))
    #expect(done.state == .done)
    #expect(done.lastFailure == nil)
    #expect(done.endedAt == fixture.clock.now)
    #expect(transport.requests.count == 3)
  }

  @Test(arguments: [400, 409, 410, 411, 412, 413, 415, 422])
  func `a permanent rejection ends the upload and keeps the bundle`(status: Int) async throws {
    let transport = UploadTransport([.status(status)])
    let reporter = try fixture.reporter(transport)
    let id = try await reporter.attach(report: fixture.report)
    let item = try #require(await reporter.queue.outcome(of: id))
    guard case .failed(let failure) = item.state else {
      Issue.record("\(item.state)")
      return
    }
    #expect(failure.status == status)
    #expect(failure.date == fixture.clock.now)
    #expect(item.hasBundle)
    #expect(item.nextTry == nil)
    #expect(try fixture.files().count == 2)

    try reporter.queue.retryNow(id)
    #expect(try await reporter.queue.upload(id) { $0.state == .done }.hasBundle == false)
  }

  @Test(arguments: [
    200, 301, 302, 307, 308, 400, 401, 403, 404, 405, 407, 409, 410, 411, 413, 422, 451, 500, 501, 503, 511,
  ])
  func `what a proxy answers is never final, and no reason to wait for a token`(status: Int) async throws {
    let page = FakeTransport.Answer.foreign(
      status, [.contentType: "text/html", .server: "proxy"], body: Data("<title>No</title>".utf8))
    let reporter = try fixture.reporter(UploadTransport([page]))
    let id = try await reporter.attach(report: fixture.report)
    let item = try await reporter.queue.upload(id) { $0.lastFailure != nil }
    #expect(item.state == .waiting(.time))
    #expect(item.lastFailure?.status == status)
    #expect(item.lastFailure?.description.contains("status \(status) from ‘proxy’, “No”") == true)
    // Another network may have no such proxy.
    if status != 503 {
      reporter.queue.networkChanged()
    } else {
      await fixture.clock.reach(try #require(item.nextTry))
    }
    #expect(await reporter.queue.outcome(of: id)?.state == .done)
  }

  @Test func `an address that the server does not have is given up after many attempts`() async throws {
    let transport = UploadTransport(Array(repeating: .status(404), count: 30))
    let reporter = try fixture.reporter(transport)
    let id = try await reporter.attach(report: fixture.report)
    for attempt in 1..<20 {
      let item = try await reporter.queue.upload(id) { $0.failures == attempt && $0.state == .waiting(.time) }
      await fixture.clock.reach(try #require(item.nextTry))
    }
    let item = try #require(await reporter.queue.outcome(of: id))
    guard case .failed(let failure) = item.state else {
      Issue.record("\(item.state)")
      return
    }
    #expect(failure.code == .notFound)
    #expect(transport.requests.count == 20)
  }

  @Test func `bytes that were damaged in transit are sent again`() async throws {
    let problem = #"{"type": "urn:data-snapshots:problem:digest-mismatch", "title": "Other bytes came"}"#
    let answer = FakeTransport.Answer.status(
      400, [.contentType: "application/problem+json"], body: Data(problem.utf8))
    let reporter = try fixture.reporter(UploadTransport([answer]))
    let id = try await reporter.attach(report: fixture.report)
    let item = try await reporter.queue.upload(id, waitingFor: .time)
    await fixture.clock.reach(try #require(item.nextTry))
    #expect(await reporter.queue.outcome(of: id)?.state == .done)
  }

  @Test(arguments: [429, 503])
  func `Retry-After delays all uploads`(status: Int) async throws {
    let transport = UploadTransport([.status(status, [.retryAfter: "600"])])
    let reporter = try fixture.reporter(transport)
    let start = fixture.clock.now
    let first = try await reporter.attach(report: fixture.report)
    let waiting = try await reporter.queue.upload(first, waitingFor: .time)
    #expect(waiting.nextTry == start.addingTimeInterval(602.5))
    await fixture.clock.waitForSleep(until: try #require(waiting.nextTry))
    let second = try await reporter.attach(report: fixture.report)
    try await reporter.queue.upload(second, waitingFor: .time)
    reporter.queue.networkChanged()
    #expect(reporter.queue[first]?.nextTry == waiting.nextTry)
    #expect(transport.requests.count == 1)
    await fixture.clock.reach(try #require(waiting.nextTry))
    for id in [first, second] { #expect(await reporter.queue.outcome(of: id)?.state == .done) }
  }

  @Test func `Retry-After applies after a relaunch too`() async throws {
    let first = try fixture.reporter(UploadTransport([.status(503, [.retryAfter: "600"])]))
    let id = try await first.attach(report: fixture.report)
    let waiting = try await first.queue.upload(id, waitingFor: .time)
    await first.queue.close()
    let transport = UploadTransport()
    let second = try fixture.reporter(transport)
    #expect(second.queue[id]?.state == .waiting(.time))
    #expect(second.queue[id]?.nextTry == waiting.nextTry)
    #expect(second.queue[id]?.lastFailure == waiting.lastFailure)
    #expect(second.queue[id]?.failures == 1)
    await fixture.clock.reach(try #require(waiting.nextTry))
    #expect(await second.queue.outcome(of: id)?.state == .done)
  }

  @Test(arguments: [true, false])
  func `an upload that failed while the clock was a year ahead waits no longer than otherwise`(
    isRelaunched: Bool
  ) async throws {
    let transport = UploadTransport([.status(500), .status(500)])
    var reporter = try fixture.reporter(transport)
    let id = try await reporter.attach(report: fixture.report)
    let failed = try await reporter.queue.upload(id) { $0.failures == 1 && $0.state == .waiting(.time) }
    // An alarm that the failure sets later would begin to sleep at a time that this test has set.
    await fixture.clock.waitForSleep(until: try #require(failed.nextTry))
    for days in [-365.0, -10] {
      let right = fixture.clock.now.addingTimeInterval(days * 86_400)
      if isRelaunched { await reporter.queue.close() }
      fixture.clock.set(right)
      if isRelaunched { reporter = try fixture.reporter(transport) } else { reporter.queue.networkChanged() }
      #expect(reporter.queue[id]?.nextTry == right.addingTimeInterval(2.5))
      #expect(reporter.queue[id]?.state == .waiting(.time))
    }
    await fixture.clock.reach(fixture.clock.now.addingTimeInterval(2.5))
    let again = try await reporter.queue.upload(id) { $0.failures == 2 && $0.state == .waiting(.time) }
    await fixture.clock.reach(try #require(again.nextTry))
    #expect(await reporter.queue.outcome(of: id)?.state == .done)
  }

  @Test func `a server's long delay is not shortened by a clock that was set back`() async throws {
    let reporter = try fixture.reporter(UploadTransport([.status(503, [.retryAfter: "600"])]))
    let id = try await reporter.attach(report: fixture.report)
    try await reporter.queue.upload(id, waitingFor: .time)
    let past = fixture.clock.now.addingTimeInterval(-1_000_000)
    fixture.clock.set(past)
    reporter.queue.networkChanged()
    #expect(reporter.queue[id]?.nextTry == past.addingTimeInterval(602.5))
  }

  @Test func `one upload runs at a time by default, the oldest first`() async throws {
    let transport = UploadTransport(isHeld: true)
    let reporter = try fixture.reporter(transport)
    var ids: [SnapshotID] = []
    for _ in 0..<3 {
      ids.append(try await reporter.attach(report: fixture.report))
      fixture.clock.set(fixture.clock.now.addingTimeInterval(1))
    }
    #expect(reporter.queue.items.map(\.id) == ids)
    #expect(reporter.queue.items.map(\.state) == [.uploading, .waiting(.turn), .waiting(.turn)])
    for id in ids {
      transport.release()
      #expect(await reporter.queue.outcome(of: id)?.state == .done)
    }
    #expect(transport.requests.compactMap(\.path) == ids.map { "/v1/reports/BUG-1/snapshots/\($0)" })
  }

  @Test func `uploads run concurrently up to the limit`() async throws {
    let transport = UploadTransport(isHeld: true)
    let reporter = try fixture.reporter(transport) { $0.concurrentUploads = 2 }
    for _ in 0..<3 { try await reporter.attach(report: fixture.report) }
    #expect(reporter.queue.items.count { $0.state == .uploading } == 2)
    for _ in 0..<3 { transport.release() }
    for item in reporter.queue.items { #expect(await reporter.queue.outcome(of: item.id)?.state == .done) }
  }

  @Test func `progress is reported while an upload runs`() async throws {
    let transport = UploadTransport(isHeld: true)
    let reporter = try fixture.reporter(transport)
    let id = try await reporter.attach(report: fixture.report)
    let item = try await reporter.queue.upload(id) { $0.progress != nil }
    #expect(item.state == .uploading)
    #expect(item.progress == TransportProgress(completed: item.size / 2, total: item.size))
    transport.release()
    #expect(await reporter.queue.outcome(of: id)?.progress == nil)
  }

  @Test func `a removed upload is stopped and leaves no files`() async throws {
    let transport = UploadTransport(isHeld: true)
    let reporter = try fixture.reporter(transport)
    let id = try await reporter.attach(report: fixture.report)
    try await reporter.queue.upload(id) { $0.progress != nil }
    let (updates, isKnown) = (reporter.queue.updates(), Signal())
    async let last = { () async -> QueuedUpload? in
      for await item in updates where item.id == id {
        isKnown.fire()
        if item.state == .removed { return item }
      }
      return nil
    }()
    await isKnown.wait()
    try await reporter.queue.remove(id)
    #expect(await last?.state == .removed)
    #expect(reporter.queue.items.isEmpty)
    #expect(try fixture.files() == [])
    #expect(transport.taken.isEmpty)
    let error = await reportingError { try await reporter.queue.remove(id) }
    guard case .unknown(id) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    // The queue can start the next upload.
    let next = try await reporter.attach(report: fixture.report)
    transport.release()
    #expect(await reporter.queue.outcome(of: next)?.state == .done)
  }

  @Test func `an immediate retry waits neither for the time nor for the server`() async throws {
    let transport = UploadTransport([.status(503, [.retryAfter: "600"]), .status(503, [.retryAfter: "600"])])
    let reporter = try fixture.reporter(transport)
    let id = try await reporter.attach(report: fixture.report)
    try await reporter.queue.upload(id, waitingFor: .time)
    try reporter.queue.retryNow(id)
    try await reporter.queue.upload(id) { $0.failures == 2 && $0.state == .waiting(.time) }
    reporter.queue.retryAllNow()
    #expect(await reporter.queue.outcome(of: id)?.state == .done)
    try reporter.queue.retryNow(id)
    #expect(reporter.queue[id]?.state == .done)
    #expect(throws: ReportingError.self) { try reporter.queue.retryNow(SnapshotID()) }
  }

  @Test func `a bundle that was damaged on disk fails with a reason`() async throws {
    let transport = UploadTransport()
    let first = try fixture.reporter(transport) { $0.network = NetworkPolicy { _ in false } }
    let ids = [
      try await first.attach(report: fixture.report), try await first.attach(report: fixture.report),
    ]
    await first.queue.close()
    let bundles = ids.map { fixture.queue.appending(path: "items/\($0)/bundle.zip") }
    try Data("damaged".utf8).write(to: bundles[0])
    try FileManager.default.removeItem(at: bundles[1])
    let second = try fixture.reporter(transport)
    for id in ids {
      let item = try #require(await second.queue.outcome(of: id))
      #expect(item.lastFailure?.code == .bundleDamaged)
      #expect(item.state == item.lastFailure.map(QueuedUpload.State.failed))
    }
    #expect(transport.requests.isEmpty)
  }
}
