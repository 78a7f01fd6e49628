import HTTPTypes
import SystemIO
import Testing

@testable import HTTPEngine

@Suite struct RateFloorTests {
  private func floor() -> RateFloor {
    var limits = HTTPLimits()
    limits.bodyBytesPerSecond = 100
    limits.bodyGrace = .seconds(2)
    limits.bodyWindow = .seconds(1)
    return RateFloor(limits: limits)
  }

  @Test func `the rate is not checked within the grace period`() {
    var floor = floor()
    floor.resume(at: 0)
    #expect(floor.deadline == 2000)
    let slow1 = floor.isTooSlow(at: 2000)
    #expect(!slow1)
    #expect(floor.deadline == 3000)
  }

  @Test(arguments: [(99, true), (100, false), (101, false)])
  func `after the grace period the rate must reach the minimum`(bytes: Int, isTooSlow: Bool) {
    var floor = floor()
    floor.resume(at: 0)
    _ = floor.isTooSlow(at: 2000)
    floor.count(bytes)
    let slow2 = floor.isTooSlow(at: 3000)
    #expect(slow2 == isTooSlow)
  }

  @Test func `bytes count only in the period in which they are received`() {
    var floor = floor()
    floor.resume(at: 0)
    floor.count(1_000_000)
    let slowInGrace = floor.isTooSlow(at: 2000)
    #expect(!slowInGrace)
    floor.count(1_000_000)
    let slowAfterBurst = floor.isTooSlow(at: 3000)
    #expect(!slowAfterBurst)
    let slowInNextWindow = floor.isTooSlow(at: 4000)
    #expect(slowInNextWindow)
  }

  @Test func `a burst within the grace period gives no credit after it`() {
    var floor = floor()
    floor.resume(at: 0)
    floor.count(1_000_000)
    let slowInGrace = floor.isTooSlow(at: 2000)
    #expect(!slowInGrace)
    let slowAfterGrace = floor.isTooSlow(at: 3000)
    #expect(slowAfterGrace)
  }

  @Test func `only time in which the server waits for the client counts`() {
    var floor = floor()
    floor.resume(at: 0)
    floor.pause(at: 1500)
    #expect(floor.deadline == nil)
    floor.resume(at: 10_000)
    #expect(floor.deadline == 10_500)
    let slow3 = floor.isTooSlow(at: 10_400)
    #expect(!slow3)
    #expect(floor.deadline == 10_500)
    let slow4 = floor.isTooSlow(at: 10_500)
    #expect(!slow4)
    let slow5 = floor.isTooSlow(at: 11_500)
    #expect(slow5)
  }
}

@Suite struct ProgressFloorTests {
  /// A minimum of 1000 bytes per second.
  private static let limits = {
    var limits = HTTPLimits()
    limits.writeStallTime = .seconds(1)
    limits.writeProgressBytes = 1000
    return limits
  }()

  @Test(arguments: [(999, false), (1000, true), (1001, true)])
  func `a client must receive enough in every stall time`(bytes: Int64, isKept: Bool) {
    var floor = ProgressFloor()
    floor.begin(at: 5000, taken: -70)
    #expect(floor.deadline(at: 6000, taken: bytes - 70, limits: Self.limits) == (isKept ? 6250 : nil))
  }

  @Test(arguments: [(5999, true), (6000, false), (6001, false)])
  func `a client that receives nothing gets the stall time and no more`(now: UInt64, isKept: Bool) {
    var floor = ProgressFloor()
    floor.begin(at: 5000, taken: 7)
    #expect((floor.deadline(at: now, taken: 7, limits: Self.limits) != nil) == isKept)
  }

  @Test func `the stall time restarts after enough bytes, not after every byte`() {
    var floor = ProgressFloor()
    floor.begin(at: 0, taken: 0)
    // Checked four times within the stall time, and at its end.
    #expect(floor.deadline(at: 0, taken: 0, limits: Self.limits) == 250)
    #expect(floor.deadline(at: 600, taken: 1000, limits: Self.limits) == 850)
    #expect(floor.deadline(at: 1500, taken: 1999, limits: Self.limits) == 1600)
    #expect(floor.deadline(at: 1600, taken: 1999, limits: Self.limits) == nil)
  }

  @Test
  func `one byte a minute is too slow for the defaults, and 512 bytes a second in steps of 64 KiB are not`() {
    let minute: UInt64 = 60_000
    var floor = ProgressFloor()
    floor.begin(at: 0, taken: 0)
    #expect(floor.deadline(at: minute, taken: 1, limits: HTTPLimits()) != nil)
    #expect(floor.deadline(at: 2 * minute, taken: 2, limits: HTTPLimits()) != nil)
    #expect(floor.deadline(at: 3 * minute, taken: 3, limits: HTTPLimits()) == nil)

    floor.begin(at: 0, taken: 0)
    for second in 1...3600 as ClosedRange<UInt64> {
      let taken = Int64(second) / 128 * 65_536
      #expect(floor.deadline(at: second * 1000, taken: taken, limits: HTTPLimits()) != nil)
    }
  }

  @Test func `an unlimited stall time never elapses`() {
    var limits = HTTPLimits()
    limits.writeStallTime = .seconds(Int64.max)
    var floor = ProgressFloor()
    floor.begin(at: .max / 4, taken: 0)
    #expect(floor.deadline(at: .max / 4, taken: 0, limits: limits) != nil)
  }
}

@Suite struct CharacterClassTests {
  private static let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
  private static let digits = "0123456789"

  @Test(arguments: [
    (CharacterClass.requestID, "-_.:=+/@~" + letters + digits),
    (CharacterClass.token, "!#$%&'*+-.^_`|~" + letters + digits),
    (.path, "/-._~!$&'()*+,;=:@" + letters + digits),
    (.query, "/-._~!$&'()*+,;=:@?%[]|{}^`\\" + letters + digits), (.host, "-._~" + letters + digits),
    (.ipv6, ":.abcdefABCDEF" + digits), (.digit, digits), (.hexDigit, "abcdefABCDEF" + digits),
  ]) func `a class contains its characters and no others`(characters: CharacterClass, text: String) {
    let expected = Set(text.utf8)
    #expect(Set((0...255).map { UInt8($0) }.filter { characters.contains($0) }) == expected)
  }
}

@Suite struct FieldValueBytesTests {
  @Test func `control bytes are detected at any position, and tabs are accepted`() {
    for filler: UInt8 in [0x20, 0x61, 0x7E, 0x80, 0xFF, 0x09] {
      for count in 0...20 {
        var bytes = [UInt8](repeating: filler, count: count)
        #expect(bytes.withUnsafeBytes { $0.isFieldValue })
        for index in 0..<count {
          for byte in UInt8.min ... .max {
            bytes[index] = byte
            let isAllowed = byte == 0x09 || byte >= 0x20 && byte != 0x7F
            if bytes.withUnsafeBytes({ $0.isFieldValue }) != isAllowed {
              Issue.record("\(byte) at \(index) of \(count) among \(filler)")
            }
          }
          bytes[index] = filler
        }
      }
    }
  }
}

@Suite struct DeadlineTableTests {
  @Test func `deadlines expire at their time`() {
    var table = DeadlineTable()
    table[3] = 100
    table[200] = 50
    #expect(table.expired(at: 49) == [])
    #expect(table.expired(at: 50) == [200])
    #expect(table.expired(at: 100) == [3, 200])
    table[3] = DeadlineTable.none
    #expect(table.expired(at: 1000) == [200])
    #expect(table[3] == .max)
    #expect(table[9999] == .max)
  }
}

@Suite struct ConnectionBudgetTests {
  @Test func `the limits per client and in total are enforced`() throws {
    var limits = HTTPLimits()
    limits.connections = 3
    limits.connectionsPerAddress = 2
    let budget = ConnectionBudget(limits: limits)
    let one = try #require(IPAddress("10.0.0.1"))
    let two = try #require(IPAddress("10.0.0.2"))
    #expect(budget.admit(one))
    #expect(budget.admit(one))
    #expect(!budget.admit(one))
    #expect(budget.admit(two))
    #expect(!budget.admit(two))
    budget.leave(one)
    #expect(budget.admit(two))
    #expect(!budget.admit(one))
  }

  @Test func `a proxy has no limit of its own, and its clients have limits`() throws {
    var limits = HTTPLimits()
    limits.connections = 4
    limits.connectionsPerAddress = 2
    let budget = ConnectionBudget(limits: limits)
    let client = try #require(IPAddress("10.0.0.1"))
    for _ in 0..<3 { #expect(budget.admit(nil)) }
    #expect(budget.admitRequest(of: client))
    #expect(budget.admitRequest(of: client))
    #expect(!budget.admitRequest(of: client))
    // The client's own connections count, too.
    #expect(!budget.admit(client))
    budget.endRequest(of: client)
    #expect(budget.admit(client))
    #expect(!budget.admitRequest(of: client))
    #expect(!budget.admit(nil))
    budget.leave(nil)
    #expect(budget.admit(nil))
    budget.leave(client)
    #expect(budget.admitRequest(of: client))
  }
}

@Suite struct ResponseHeadTests {
  private func write(
    _ response: HTTPServerResponse, isHEAD: Bool = false, minorVersion: Int = 1, keepsAlive: Bool = true
  ) throws -> String {
    var head = ResponseHead(response, isHEAD: isHEAD, minorVersion: minorVersion, keepsAlive: keepsAlive)
    let buffer = OutputBuffer(capacity: 1)
    try head.write(response, into: buffer, date: Array("Date: now\r\n".utf8), serverName: nil)
    return String(decoding: buffer.bytes, as: UTF8.self)
  }

  @Test func `a head has a length and a date`() throws {
    let response = HTTPServerResponse(
      status: .ok, headerFields: [.contentType: "text/plain"], body: .bytes(Array("hello".utf8)))
    #expect(
      try write(response)
        == "HTTP/1.1 200 OK\r\nDate: now\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\n")
  }

  @Test func `statuses without bodies have no length`() throws {
    for status in [HTTPResponse.Status.noContent, .notModified] {
      let response = HTTPServerResponse(status: status, body: .bytes([1]))
      #expect(try !write(response).contains("Content-Length"))
      #expect(!ResponseHead(response, isHEAD: false, minorVersion: 1, keepsAlive: true).sendsBody)
    }
  }

  @Test func `a handler can't override the server's own fields`() throws {
    let fields: HTTPFields = [
      .contentLength: "99", .transferEncoding: "gzip", .date: "never", .connection: "close",
    ]
    let text = try write(HTTPServerResponse(status: .ok, headerFields: fields))
    #expect(text == "HTTP/1.1 200 OK\r\nDate: now\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
  }

  @Test func `added fields follow the others, and can't override the server's own fields`() throws {
    var response = HTTPServerResponse(status: .ok, headerFields: [.vary: "a"])
    response.addedFields = [
      HTTPField(name: .vary, value: "b"), HTTPField(name: .contentLength, value: "99"),
      HTTPField(name: .connection, value: "close"),
    ]
    #expect(
      try write(response)
        == "HTTP/1.1 200 OK\r\nDate: now\r\nVary: a\r\nVary: b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
    response.addedFields = [HTTPField(name: .server, lenientValue: Array("a\u{1B}b".utf8))]
    #expect(throws: ResponseHead.Unlawful.self) { try write(response) }
  }

  @Test func `a response to HEAD can state a length without having a body`() throws {
    let response = HTTPServerResponse(status: .ok, headerFields: [.contentLength: "99"])
    #expect(try write(response, isHEAD: true).contains("Content-Length: 99\r\n"))
    let full = HTTPServerResponse(status: .ok, body: .bytes([1, 2]))
    #expect(try write(full, isHEAD: true).contains("Content-Length: 2\r\n"))
  }

  @Test func `a stream is chunked, or ends with the connection of an HTTP 1.0 client`() throws {
    let response = HTTPServerResponse(status: .ok, body: .stream { nil })
    #expect(try write(response).contains("Transfer-Encoding: chunked\r\n"))
    let old = try write(response, minorVersion: 0)
    #expect(!old.contains("Transfer-Encoding"))
    #expect(old.contains("Connection: close\r\n"))
  }

  @Test func `an HTTP 1.0 client is told that the connection is kept open`() throws {
    #expect(
      try write(HTTPServerResponse(status: .ok), minorVersion: 0).contains("Connection: keep-alive\r\n"))
  }

  @Test func `control characters are never written to a head`() throws {
    var fields = HTTPFields()
    fields.append(HTTPField(name: .server, lenientValue: Array("a\u{1B}b".utf8)))
    #expect(throws: ResponseHead.Unlawful.self) {
      try write(HTTPServerResponse(status: .ok, headerFields: fields))
    }
    fields = [.location: "/a\r\nSet-Cookie: b"]
    #expect(try !write(HTTPServerResponse(status: .ok, headerFields: fields)).contains("\r\nSet-Cookie"))
  }

  @Test func `an interim status is not valid for a final response`() {
    #expect(throws: ResponseHead.Unlawful.self) { try write(HTTPServerResponse(status: .continue)) }
  }
}

@Suite struct HTTPProblemResponseTests {
  @Test func `a problem is written as escaped JSON`() throws {
    let problem = HTTPProblem(
      status: .badRequest, type: "about:blank", title: "Bad \"Request\"", detail: "a\\b\n<script>\u{1}",
      headerFields: [.retryAfter: "3"])
    let response = problem.response(requestID: "id")
    #expect(response.headerFields[.contentType] == "application/problem+json")
    #expect(response.headerFields[.retryAfter] == "3")
    guard case .bytes(let bytes) = response.body else {
      Issue.record("\(response.body)")
      return
    }
    #expect(
      String(decoding: bytes, as: UTF8.self)
        == #"{"type":"about:blank","title":"Bad \"Request\"","status":400,"#
        + #""detail":"a\\b\n\u003cscript\u003e\u0001","requestID":"id"}"# + "\n")
  }
}

@Suite struct HTTPExchangeTests {
  @Test func `control characters are escaped for logs`() {
    #expect("a\r\nb\u{1B}[1m\u{85}\u{2028}ü".escapedForLog == "a\\u{d}\\u{a}b\\u{1b}[1m\\u{85}\\u{2028}ü")
  }
}

@Suite struct ByteQueueTests {
  @Test func `bytes are returned in order, and consumed bytes use no memory`() {
    var queue = ByteQueue()
    var taken: UInt8 = 0
    for round in 0..<10_000 {
      let byte = UInt8(truncatingIfNeeded: round)
      Array(repeating: byte, count: 10).withUnsafeBytes { queue.append($0) }
      // One round of bytes always remains in the queue.
      if round > 0 {
        queue.withUnsafeBytes { bytes in
          if bytes[0] != taken || bytes.count != 20 { Issue.record("round \(round): \(bytes[0])") }
        }
        queue.removeFirst(10)
        taken &+= 1
      }
    }
    #expect(queue.count == 10)
    #expect(queue.capacity < 1000)
    queue.removeFirst(10)
    #expect(queue.isEmpty)
    #expect(queue.capacity == 0)
  }
}

@Suite struct HTTPLimitsTests {
  @Test(
    arguments: [
      (.zero, 0), (.nanoseconds(1), 1), (.milliseconds(1), 1), (.milliseconds(1001), 1001), (.seconds(-1), 0),
    ] as [(Duration, UInt64)]
  ) func `durations are converted to milliseconds and rounded up`(duration: Duration, milliseconds: UInt64) {
    #expect(duration.milliseconds == milliseconds)
  }

  @Test func `the longest duration causes no overflow`() {
    #expect(Duration(secondsComponent: .max, attosecondsComponent: 0).milliseconds > 1 << 60)
  }
}
