import Foundation
import HTTPEngine
import HTTPTypes
import SystemIO
import TestSupport
import Testing

/// Every limit over a socket: just below it, at it and above it.
@Suite(.alsoOverTLS, .timeLimit(.minutes(5 * Sanitizer.slowness))) struct LimitBoundsTests {
  @Test func `the article lists every limit with its default`() throws {
    let article = PackageFolder.url().appending(path: "Sources/HTTP/HTTPEngine/HTTPEngine.docc/Limits.md")
    var documented: [String: String] = [:]
    for line in try String(contentsOf: article, encoding: .utf8).split(separator: "\n")
    where line.hasPrefix("| ``HTTPLimits/") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      #expect(cells.count == 3)
      documented[String(cells[0].dropFirst(13).dropLast(2))] = cells[1]
    }
    let limits = Mirror(reflecting: HTTPLimits()).children.map { ($0.label ?? "", Self.text($0.value)) }
    #expect(documented == Dictionary(uniqueKeysWithValues: limits))
  }

  private static func text(_ value: Any) -> String {
    switch value {
    case let time as Duration:
      let (seconds, attoseconds) = time.components
      return attoseconds == 0 ? "\(seconds) s" : "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000) ms"
    case let number as any BinaryInteger:
      let count = Int64(number)
      for (unit, size) in [("GiB", Int64(1 << 30)), ("MiB", 1 << 20), ("KiB", 1 << 10)]
      where count >= size && count % size == 0 {
        return "\(count / size) \(unit)"
      }
      return "\(count)"
    default: return "\(value)"
    }
  }

  // MARK: The head

  private static func head(line: Int) -> String {
    let frame = "GET / HTTP/1.1".utf8.count
    return "GET /\(String(repeating: "a", count: line - frame)) HTTP/1.1\r\nHost: a\r\n\r\n"
  }

  private static func head(bytes: Int) -> String {
    let start = "GET / HTTP/1.1\r\nHost: a\r\nX: "
    return start + String(repeating: "a", count: bytes - start.utf8.count - 4) + "\r\n\r\n"
  }

  private static func head(fields: Int) -> String {
    "GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "X: y\r\n", count: fields - 1) + "\r\n"
  }

  @Test(arguments: [
    (head(line: 8191), 200), (head(line: 8192), 200), (head(line: 8193), 414),
    (head(bytes: 32_767), 200), (head(bytes: 32_768), 200), (head(bytes: 32_769), 431),
    (head(fields: 99), 200), (head(fields: 100), 200), (head(fields: 101), 431),
  ]) func `a head is accepted up to the limits, at once or in pieces`(head: String, status: Int) async throws
  {
    try await withServer(handler: { _ in HTTPServerResponse(status: .ok) }) { _, port in
      try await RawHTTPClient.run {
        for split in [nil, 5, head.utf8.count - 1] {
          let client = try RawHTTPClient(port: port)
          let bytes = Array(head.utf8)
          if let split {
            try client.send(Array(bytes[..<split]))
            // The response to this other client shows that the server has read the first piece before the second one is
            // sent.
            let other = try RawHTTPClient(port: port)
            try other.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try other.receiveResponse().status == 200)
          }
          try client.send(Array(bytes[(split ?? 0)...]))
          let response = try client.receiveResponse()
          #expect(response.status == status)
          #expect(response.field("Connection") == (status == 200 ? nil : "close"))
        }
      }
    }
  }

  // MARK: Connections

  @Test func `connections are accepted up to the total limit`() async throws {
    try await withServer(configure: { $0.limits.connections = 3 }, handler: echo) { _, port in
      try await RawHTTPClient.run {
        let clients = try (0..<3).map { _ in try RawHTTPClient(port: port) }
        for client in clients {
          try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
          #expect(try client.receiveResponse().status == 200)
        }
        for _ in 0..<3 {
          let refusal = try RawHTTPClient(port: port).receiveResponse()
          #expect(refusal.status == 503)
          #expect(refusal.field("Retry-After") == "1")
          #expect(refusal.field("Connection") == "close")
        }
        for client in clients {
          try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
          #expect(try client.receiveResponse().status == 200)
        }
      }
    }
  }

  // MARK: Closing

  /// Whether a second connection is accepted with a limit of one, after the first one was refused while its client
  /// continues to send.
  private func isAdmitted(port: UInt16, tries: Int) async throws -> Bool {
    try await RawHTTPClient.run {
      let client = try RawHTTPClient(port: port)
      try client.send("nonsense\r\n\r\n")
      #expect(try client.receiveResponse().status == 400)
      #expect(client.isClosedByPeer())
      for _ in 0..<tries {
        let other = try RawHTTPClient(port: port)
        try other.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        if try other.receiveResponse().status == 200 { return true }
        // A reset, so that this connection does not linger, too.
        other.reset()
      }
      return false
    }
  }

  @Test func `a closing connection remains readable for its linger time`() async throws {
    try await withServer(
      configure: {
        $0.limits.connections = 1
        $0.limits.lingerTime = .seconds(3600)
      }, handler: echo
    ) { _, port in
      let isAdmitted = try await isAdmitted(port: port, tries: 20)
      #expect(!isAdmitted)
    }
  }

  @Test func `a closing connection is closed after its linger time`() async throws {
    try await withServer(
      configure: {
        $0.limits.connections = 1
        $0.limits.lingerTime = .milliseconds(20)
      }, handler: echo
    ) { _, port in
      let isAdmitted = try await isAdmitted(port: port, tries: 100_000)
      #expect(isAdmitted)
    }
  }

  // MARK: Slow readers

  /// Runs a server that sends a terabyte in each response, and a client that has sent a request. `body` also gets a
  /// closure that returns whether the server has aborted the response. Bytes in the server system's buffers still
  /// arrive after that.
  private func withEndlessResponse<Result: Sendable>(
    stallTime: Duration, progress: Int,
    _ body: @escaping @Sendable (RawHTTPClient, _ isGivenUp: () -> Bool) throws -> Result
  ) async throws -> Result {
    let givenUp = Lock(false)
    let folder = try TemporaryFolder()
    let path = folder.file("endless").path
    let file = try File(path, .create(mode: 0o600))
    // A sparse file, which uses no disk space and reads nothing from disk.
    try file.truncate(to: 1 << 40)
    return try await withServer(
      configure: {
        $0.limits.writeStallTime = stallTime
        $0.limits.writeProgressBytes = progress
        $0.onResponse = { _ in givenUp.set(true) }
      },
      handler: { _ in
        HTTPServerResponse(status: .ok, body: .parts([.file(try File(path), offset: 0, count: 1 << 40)]))
      }
    ) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port, receiveBuffer: 16 * 1024)
        try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        return try body(client) { givenUp.value }
      }
    }
  }

  @Test func `a client that reads slowly stays connected`() async throws {
    let stallTime = Duration.milliseconds(400)
    for _ in 0..<50 {
      let (isKept, pause) = try await withEndlessResponse(stallTime: stallTime, progress: 1) {
        client, isGivenUp in
        var last = ContinuousClock.now
        let end = last + stallTime * 3
        var pause = Duration.zero
        while last < end {
          do { if try client.receive(upTo: 4096).isEmpty { return (false, pause) } } catch {
            return (false, pause)
          }
          Thread.sleep(forTimeInterval: 0.05)
          let now = ContinuousClock.now
          (pause, last) = (max(pause, now - last), now)
        }
        return (!isGivenUp(), pause)
      }
      if isKept { return }
      // On a busy machine a client can be slower than intended. The test only requires that a client that was fast
      // enough stays connected.
      if pause < stallTime / 2 {
        Issue.record("The connection was closed, although no pause in reading was longer than \(pause).")
        return
      }
    }
    Issue.record("On this machine, no client could read at the intended rate in 50 attempts.")
  }

  @Test func `a client that receives too little in a stall time is disconnected`() async throws {
    try await withEndlessResponse(stallTime: .milliseconds(100), progress: .max) { client, _ in
      while try !client.receive().isEmpty {}
    }
  }
}
