import Foundation
import HTTPClient
import HTTPTypes
import SnapshotClient
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct SnapshotAPIClientRetryTests {
  private let record: SnapshotRecord
  private let json: Data

  init() throws {
    record = try makeRecord(Data("x".utf8))
    json = try SnapshotJSON.encode(record)
  }

  @Test(arguments: ["9223372036854775807", String(repeating: "9", count: 400)])
  func `a Retry-After that is too large for a number is reported without it`(wish: String) async throws {
    let transport = FakeTransport([.status(429, [.retryAfter: wish])])
    let error = await clientError { try await makeClient(transport, .forTests()).record(record.id) }
    #expect(error?.code == .rateLimited)
    #expect(error?.description.contains("asks to wait") == false)
  }

  @Test(arguments: [
    ("7", 7), ("0", 0), (" 3 ", 3), ("120", 120), ("Sun, 06 Nov 1994 08:49:47 GMT", 10),
    ("Sun, 06 Nov 1994 08:49:36 GMT", 0), ("soon", 0), ("-5", 0), ("Sun, 06 Nov 1994 08:49:47 CET", 0),
    ("Sun, 32 Nov 1994 08:49:47 GMT", 0), ("", 0),
  ])
  func `the server's Retry-After is respected`(wish: (text: String, seconds: Double)) async throws {
    let sleeps = SleepLog()
    let transport = FakeTransport([.status(503, [.retryAfter: wish.text]), .status(200, body: json)])
    // The date of the fixture is Sun, 06 Nov 1994 08:49:37 GMT.
    #expect(try await makeClient(transport, .forTests(sleeps: sleeps)).record(record.id) == record)
    #expect(sleeps.seconds == [wish.seconds])
  }

  @Test(arguments: [
    ("Mon, 28 Feb 2000 23:59:59 GMT", 951_782_399), ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
    ("Wed, 01 Mar 2000 00:00:00 GMT", 951_868_800), ("Fri, 31 Dec 2100 23:59:59 GMT", 4_133_980_799),
  ])
  func `dates are parsed with the calendar`(date: (text: String, seconds: Double)) async throws {
    let sleeps = SleepLog()
    let transport = FakeTransport([.status(503, [.retryAfter: date.text]), .status(200, body: json)])
    let now = Date(timeIntervalSince1970: date.seconds - 5)
    _ = try await makeClient(transport, .forTests(sleeps: sleeps, now: now)).record(record.id)
    #expect(sleeps.seconds == [5])
  }

  @Test func `a Retry-After above the limit fails immediately`() async throws {
    let sleeps = SleepLog()
    let transport = FakeTransport([.status(429, [.retryAfter: "121"])])
    let error = await clientError {
      try await makeClient(transport, .forTests(sleeps: sleeps)).record(record.id)
    }
    #expect(error?.code == .rateLimited)
    #expect(error?.retryAfter == 121)
    #expect(error?.description.contains("121 s") == true)
    #expect(sleeps.seconds.isEmpty)
  }

  @Test func `delays grow up to their cap and to the number of attempts`() async throws {
    let sleeps = SleepLog()
    var configuration = SnapshotAPIClient.Configuration.forTests(sleeps: sleeps, random: 0.5)
    configuration.retries.attempts = 6
    configuration.retries.base = 1
    configuration.retries.cap = 5
    let transport = FakeTransport(Array(repeating: .failure(.timedOut), count: 6))
    let error = await clientError { try await makeClient(transport, configuration).record(record.id) }
    #expect(error?.code == .timedOut)
    #expect(sleeps.seconds == [0.5, 1, 2, 2.5, 2.5])
    #expect(transport.requests.count == 6)
  }

  @Test(arguments: [0, 0.25, 0.999])
  func `the whole delay is random`(random: Double) {
    var policy = RetryPolicy()
    policy.base = 2
    #expect(policy.delay(afterAttempt: 1, retryAfter: nil, random: random) == 2 * random)
    #expect(policy.delay(afterAttempt: 2, retryAfter: nil, random: random) == 4 * random)
    #expect(policy.delay(afterAttempt: 2, retryAfter: 3, random: random) == 3 + 4 * random)
    #expect(policy.delay(afterAttempt: .max, retryAfter: nil, random: random) == 20 * random)
  }

  @Test(arguments: [400, 401, 404, 408, 409, 410, 416, 425, 429, 500, 501, 502, 503, 504, 505, 507])
  func `only temporary statuses are retried`(status: Int) async throws {
    let transport = FakeTransport([.status(status), .status(200, body: json)])
    let isRepeated = RetryPolicy.retriedStatuses.contains(status)
    let client = try makeClient(transport, .forTests())
    if isRepeated {
      #expect(try await client.record(record.id) == record)
    } else {
      #expect(await clientError { try await client.record(record.id) }?.status == status)
    }
    #expect(transport.requests.count == (isRepeated ? 2 : 1))
    #expect(RetryPolicy.retriedStatuses == [408, 425, 429, 502, 503, 504])
  }

  @Test func `a wait ends when the task is cancelled`() async throws {
    let isWaiting = Signal()
    var configuration = SnapshotAPIClient.Configuration()
    configuration.environment.sleep = { _ in try await isWaiting.fireUntilCancelled() }
    let client = try makeClient(FakeTransport([.status(503)]), configuration)
    let task = Task { try await client.record(record.id) }
    await isWaiting.wait()
    task.cancel()
    #expect(await clientError { try await task.value }?.code == .cancelled)
  }

  private func makeClient(
    _ transport: FakeTransport, _ configuration: SnapshotAPIClient.Configuration
  ) throws -> SnapshotAPIClient {
    try SnapshotAPIClient(
      server: try #require(URL(string: "http://localhost:1")), transport: transport,
      configuration: configuration)
  }
}
