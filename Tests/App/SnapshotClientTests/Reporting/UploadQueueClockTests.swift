import Dispatch
import Foundation
import HTTPClient
import HTTPTypes
import SnapshotClient
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// Clocks that are wrong, times that a server can't mean, and a machine that sleeps.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct UploadQueueClockTests {
  private static let decade: Double = 3653 * 86_400
  private let fixture: ReportingFixture

  init() throws { fixture = try ReportingFixture() }

  @Test(
    arguments: [
      ("315360000", 86_400), ("99999999999999999999", 86_400), (String(repeating: "9", count: 400), 86_400),
      ("86400", 86_400), ("86401", 86_400), ("86399", 86_399), ("0", 0), ("-5", 0), ("1e9", 0), ("12.5", 0),
      ("soon", 0), ("", 0), ("Thu, 31 Dec 2099 23:59:59 GMT", 86_400), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
      ("Thu, 31 Dec 9999 23:59:59 GMT", 86_400), ("Thu, 32 Dec 2099 23:59:59 GMT", 0),
    ] as [(String, Double)])
  func `what a server asks to wait is bounded`(sample: (text: String, seconds: Double)) async throws {
    let reporter = try fixture.reporter(UploadTransport([.status(503, [.retryAfter: sample.text])]))
    let start = fixture.clock.now
    let id = try await reporter.attach(report: fixture.report)
    let item = try await reporter.queue.upload(id, waitingFor: .time)
    #expect(item.nextTry == start.addingTimeInterval(sample.seconds + 2.5))
    await fixture.clock.reach(try #require(item.nextTry))
    #expect(await reporter.queue.outcome(of: id)?.state == .done)
  }

  @Test func `a date to wait for is compared with the server's clock`() async throws {
    // The clock of the client is in 1994.
    let fields: HTTPFields = [
      .date: "Tue, 01 Nov 2033 10:00:00 GMT", .retryAfter: "Tue, 01 Nov 2033 10:10:00 GMT",
    ]
    let reporter = try fixture.reporter(UploadTransport([.status(503, fields)]))
    let start = fixture.clock.now
    let id = try await reporter.attach(report: fixture.report)
    let item = try await reporter.queue.upload(id, waitingFor: .time)
    #expect(item.nextTry == start.addingTimeInterval(602.5))
    await reporter.queue.close()
  }

  @Test func `no call decides by a new time while another one still decides by the former`() async throws {
    let (clock, setting) = (fixture.clock, ClockSetting())
    let reporter = try fixture.reporter(UploadTransport([.status(500)])) {
      // The queue asks for the network, and then for the time.
      $0.network = NetworkPolicy { item in
        if item.failures == 1 { setting.arm() }
        return true
      }
      $0.environment.now = {
        let former = clock.now
        setting.change { clock.set(former.addingTimeInterval(-86_400)) }
        return former
      }
    }
    setting.use(reporter.queue)
    let past = clock.now.addingTimeInterval(-86_400)
    let id = try await reporter.attach(report: fixture.report)
    try await reporter.queue.upload(id) { $0.nextTry == past.addingTimeInterval(2.5) }
    for await isOvertaken in setting.results { #expect(!isOvertaken) }
    await reporter.queue.close()
  }

  @Test(arguments: [true, false], [-decade, decade])
  func `an upload waits no longer than it has to if the clock jumps by a decade`(
    isRelaunched: Bool, jump: Double
  ) async throws {
    let transport = UploadTransport([.status(503, [.retryAfter: "600"])])
    var reporter = try fixture.reporter(transport)
    let id = try await reporter.attach(report: fixture.report)
    try await reporter.queue.upload(id, waitingFor: .time)
    // To the wrong time, and back.
    for jump in [jump, -jump] {
      if isRelaunched { await reporter.queue.close() }
      let now = fixture.clock.now.addingTimeInterval(jump)
      fixture.clock.set(now)
      if isRelaunched { reporter = try fixture.reporter(transport) } else { reporter.queue.networkChanged() }
      // After a jump forward, the time has come.
      guard jump < 0 else { break }
      #expect(reporter.queue[id]?.nextTry == now.addingTimeInterval(602.5))
    }
    // The launch at the right time knows only what was stored at that time.
    if jump < 0, isRelaunched { await fixture.clock.reach(fixture.clock.now.addingTimeInterval(602.5)) }
    #expect(await reporter.queue.outcome(of: id)?.state == .done)
    #expect(transport.requests.count == 2)
    await reporter.queue.close()
  }

  @Test(arguments: [-decade, decade])
  func `a bundle that was attached while the clock was a decade off is uploaded at once`(error: Double)
    async throws
  {
    let right = fixture.clock.now
    fixture.clock.set(right.addingTimeInterval(error))
    let first = try fixture.reporter(UploadTransport(isHeld: true))
    let id = try await first.attach(report: fixture.report)
    await first.queue.close()
    fixture.clock.set(right)
    let second = try fixture.reporter(UploadTransport())
    let item = try #require(await second.queue.outcome(of: id))
    #expect(item.state == .done && item.endedAt == right)
    await second.queue.close()
  }

  // MARK: - Sleep

  /// Sends to a real server, until the machine sleeps: then nothing arrives on the connection any more.
  private struct SleepingTransport: Transport {
    let clock: ManualClock
    let direct = SnapshotAPIClient.makeDefaultTransport()
    let idle = Lock<[Double]>([])
    /// Whether the system reports that the address is gone.
    let isReported: Bool

    func send(
      _ request: HTTPRequest, body: TransportBody, destination: TransportDestination,
      timeouts: TransportTimeouts, events: (@Sendable (TransportEvent) -> Void)?
    ) async throws(TransportError) -> TransportResponse {
      idle.withLock { $0.append(timeouts.idle) }
      do throws(TransportError) {
        return try await direct.send(
          request, body: body, destination: destination, timeouts: timeouts, events: events)
      } catch {
        guard !isReported else { throw error }
        do { try await clock.sleep(.seconds(timeouts.idle)) } catch { throw .cancelled }
        throw .timedOut
      }
    }
  }

  private func reporter(_ server: DraftServer, _ transport: SleepingTransport, idle: Double = 60) throws
    -> BugReporter
  {
    var configuration = SnapshotAPIClient.Configuration.forTests()
    configuration.resumption.threshold = 1
    configuration.timeouts.idle = idle
    let clock = fixture.clock
    return try BugReporter(
      queue: fixture.queue,
      client: SnapshotAPIClient(server: server.url, transport: transport, configuration: configuration),
      configuration: fixture.configuration {
        // The longest delay.
        $0.environment = ClientEnvironment(
          now: { clock.now }, sleep: { try await clock.sleep($0) }, random: { 0.999 })
      }, freeze: fixture.freezer)
  }

  @Test(arguments: [true, false])
  func `after a sleep with a new address, an upload goes on within a minute and sends no byte again`(
    isReported: Bool
  ) async throws {
    let server = try DraftServer()
    server.fail("PATCH", .cut(afterBodyBytes: 10_000))
    let reporter = try reporter(server, SleepingTransport(clock: fixture.clock, isReported: isReported))
    let start = fixture.clock.now
    let id = try await reporter.attach(report: fixture.report)
    if !isReported { await fixture.clock.reach(start.addingTimeInterval(45)) }
    let item = try await reporter.queue.upload(id, waitingFor: .time)
    await fixture.clock.reach(try #require(item.nextTry))
    let done = try #require(await reporter.queue.outcome(of: id))
    #expect(done.state == .done)
    #expect(fixture.clock.now.timeIntervalSince(start) < (isReported ? 6 : 60))
    #expect(server.methods == ["PUT", "PATCH", "HEAD", "PATCH"])
    #expect(server.received == [10_000, Int(done.size) - 10_000])
    await reporter.queue.close()
  }

  @Test(arguments: [(60, 45), (45, 45), (44, 44), (.infinity, 45)] as [(Double, Double)])
  func `a queue waits on a silent connection no longer than its client`(
    sample: (client: Double, queue: Double)
  )
    async throws
  {
    let transport = SleepingTransport(clock: fixture.clock, isReported: true)
    let server = try DraftServer()
    let reporter = try reporter(server, transport, idle: sample.client)
    let id = try await reporter.attach(report: fixture.report)
    #expect(await reporter.queue.outcome(of: id)?.state == .done)
    #expect(transport.idle.value == server.requests.map { _ in sample.queue })
    await reporter.queue.close()
  }
}

/// Sets a clock back once, while a queue reads it.
private final class ClockSetting: Sendable {
  private let state = Lock<(isArmed: Bool, queue: UploadQueue?)>((false, nil))
  /// Whether the queue used the new time before it got the former one; one element.
  let results: AsyncStream<Bool>
  private let result: AsyncStream<Bool>.Continuation

  init() { (results, result) = AsyncStream.makeStream() }

  func use(_ queue: UploadQueue) { state.withLock { $0.queue = queue } }

  /// Lets the next reading of the clock be the one.
  func arm() { state.withLock { $0.isArmed = true } }

  /// Calls `set`, and then the queue on another thread, which waits if the queue holds its lock.
  func change(_ set: () -> Void) {
    guard let queue = state.withLock({ $0.isArmed ? $0.queue.take() : nil }) else { return }
    set()
    let isUsed = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      queue.networkChanged()
      isUsed.signal()
    }
    result.yield(isUsed.wait(timeout: .now() + 0.2) == .success)
    result.finish()
  }
}
