import Foundation
import HTTPClient
import HTTPTypes
import SnapshotClient
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// The conditions for which an upload waits besides time: a network, a token, the folder.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct UploadQueueConditionTests {
  private let fixture: ReportingFixture

  init() throws { fixture = try ReportingFixture() }

  @Test func `an upload waits for Wi-Fi and starts when it is available`() async throws {
    let isWiFi = Lock(false)
    let transport = UploadTransport()
    let reporter = try fixture.reporter(transport) {
      $0.network = .onlyWiFi { isWiFi.withLock { $0 } }
    }
    let id = try await reporter.attach(report: fixture.report)
    #expect(reporter.queue[id]?.state == .waiting(.network))
    try reporter.queue.retryNow(id)
    reporter.queue.networkChanged()
    #expect(reporter.queue[id]?.state == .waiting(.network))
    #expect(transport.requests.isEmpty)
    isWiFi.withLock { $0 = true }
    reporter.queue.networkChanged()
    #expect(await reporter.queue.outcome(of: id)?.state == .done)
  }

  @Test func `an upload stops when Wi-Fi is lost, and that does not count as a failure`() async throws {
    let isWiFi = Lock(true)
    let transport = UploadTransport(isHeld: true)
    let reporter = try fixture.reporter(transport) {
      $0.network = .onlyWiFi { isWiFi.withLock { $0 } }
    }
    let id = try await reporter.attach(report: fixture.report)
    try await reporter.queue.upload(id) { $0.progress != nil }
    isWiFi.withLock { $0 = false }
    reporter.queue.networkChanged()
    let item = try await reporter.queue.upload(id, waitingFor: .network)
    #expect(item.failures == 0)
    #expect(item.progress == nil)
    isWiFi.withLock { $0 = true }
    reporter.queue.networkChanged()
    transport.release()
    #expect(await reporter.queue.outcome(of: id)?.state == .done)
  }

  @Test func `a policy can read the queue and distinguish uploads`() async throws {
    let queue = Lock<UploadQueue?>(nil)
    let reporter = try fixture.reporter(UploadTransport()) {
      $0.network = NetworkPolicy { item in
        queue.withLock { $0 }?.items.first?.id == item.id
      }
    }
    queue.withLock { $0 = reporter.queue }
    let first = try await reporter.attach(report: fixture.report)
    #expect(await reporter.queue.outcome(of: first)?.state == .done)
    fixture.clock.set(fixture.clock.now.addingTimeInterval(1))
    let second = try await reporter.attach(report: fixture.report)
    try await reporter.queue.upload(second, waitingFor: .network)
    queue.withLock { $0 = nil }
  }

  @Test(arguments: [TransportError.connectionFailed("refused"), .timedOut, .interrupted("reset")])
  func `after a lost connection, a network change triggers the next attempt`(error: TransportError)
    async throws
  {
    let reporter = try fixture.reporter(UploadTransport([.failure(error)]))
    let id = try await reporter.attach(report: fixture.report)
    try await reporter.queue.upload(id, waitingFor: .time)
    reporter.queue.networkChanged()
    #expect(await reporter.queue.outcome(of: id)?.state == .done)
  }

  @Test func `if a server can't be reached, only one upload is attempted`() async throws {
    let isThere = Lock(false)
    let transport = UploadTransport([.failure(.connectionFailed("refused"))])
    let reporter = try fixture.reporter(transport) {
      $0.network = NetworkPolicy { _ in isThere.withLock { $0 } }
    }
    let first = try await reporter.attach(report: fixture.report)
    fixture.clock.set(fixture.clock.now.addingTimeInterval(1))
    let second = try await reporter.attach(report: fixture.report)
    isThere.withLock { $0 = true }
    reporter.queue.networkChanged()
    let item = try await reporter.queue.upload(first, waitingFor: .time)
    try await reporter.queue.upload(second, waitingFor: .time)
    #expect(reporter.queue[second]?.failures == 0)
    #expect(transport.requests.count == 1)
    await fixture.clock.reach(try #require(item.nextTry))
    for id in [first, second] { #expect(await reporter.queue.outcome(of: id)?.state == .done) }
  }

  @Test func `after a lost connection, a new report triggers the next attempt`() async throws {
    let reporter = try fixture.reporter(UploadTransport([.failure(.connectionFailed("refused"))]))
    let first = try await reporter.attach(report: fixture.report)
    try await reporter.queue.upload(first, waitingFor: .time)
    let second = try await reporter.attach(report: fixture.report)
    for id in [first, second] { #expect(await reporter.queue.outcome(of: id)?.state == .done) }
  }

  @Test(arguments: [401, 403, 407])
  func `an upload whose token is rejected waits for another one`(status: Int) async throws {
    let reporter = try fixture.reporter(UploadTransport([.status(status)]))
    let id = try await reporter.attach(report: fixture.report)
    let item = try await reporter.queue.upload(id, waitingFor: .token)
    #expect(item.lastFailure?.status == status)
    #expect(item.nextTry == nil)
    reporter.queue.networkChanged()
    #expect(reporter.queue[id]?.state == .waiting(.token))
    let transport = UploadTransport()
    reporter.queue.use(try fixture.client(transport, token: "new"))
    #expect(await reporter.queue.outcome(of: id)?.state == .done)
    #expect(transport.requests.map { $0.headerFields[.authorization] } == ["Bearer new"])
  }

  @Test func `an unknown token stops all uploads, a token without permission only its own`()
    async throws
  {
    let unknown = UploadTransport([.status(401)])
    let reporter = try fixture.reporter(unknown)
    let first = try await reporter.attach(report: fixture.report)
    try await reporter.queue.upload(first, waitingFor: .token)
    fixture.clock.set(fixture.clock.now.addingTimeInterval(1))
    let second = try await reporter.attach(report: fixture.report)
    try await reporter.queue.upload(second, waitingFor: .token)
    #expect(unknown.requests.count == 1)
    let forbidden = UploadTransport([.status(403)])
    reporter.queue.use(try fixture.client(forbidden))
    #expect(await reporter.queue.outcome(of: second)?.state == .done)
    #expect(reporter.queue[first]?.state == .waiting(.token))
  }

  @Test func `the rejection of an old token does not stop uploads with the new one`() async throws {
    let old = UploadTransport([.status(401)], isHeld: true)
    let reporter = try fixture.reporter(old)
    let id = try await reporter.attach(report: fixture.report)
    try await reporter.queue.upload(id) { $0.progress != nil }
    reporter.queue.use(try fixture.client(UploadTransport()))
    old.release()
    let item = try #require(await reporter.queue.outcome(of: id))
    #expect(item.state == .done)
    #expect(item.failures == 0)
  }

  @Test func `a folder is used by one queue at a time`() async throws {
    let first = try fixture.reporter(UploadTransport())
    let error = await reportingError { _ = try fixture.reporter(UploadTransport()) }
    guard case .inUse(folder: fixture.queue.path) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    await first.queue.close()
    await first.queue.close()
    _ = try fixture.reporter(UploadTransport())
  }

  @Test func `a queue that is deinitialized unlocks its folder`() async throws {
    do {
      let reporter = try fixture.reporter(UploadTransport([.status(500)]))
      let id = try await reporter.attach(report: fixture.report)
      try await reporter.queue.upload(id, waitingFor: .time)
    }
    // The upload's task can still be about to end.
    while await reportingError({ _ = try fixture.reporter(UploadTransport()) }) != nil { await Task.yield() }
  }

  @Test func `closing stops an upload, ends the updates and loses nothing`() async throws {
    let reporter = try fixture.reporter(UploadTransport(isHeld: true))
    let id = try await reporter.attach(report: fixture.report)
    try await reporter.queue.upload(id) { $0.progress != nil }
    async let outcome = reporter.queue.outcome(of: id)
    await reporter.queue.close()
    #expect(await outcome == nil)
    for await item in reporter.queue.updates() { #expect(item.id == id) }
    let reopened = try fixture.reporter(UploadTransport())
    #expect(await reopened.queue.outcome(of: id)?.state == .done)
  }
}
