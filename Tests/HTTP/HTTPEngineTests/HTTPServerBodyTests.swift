import Dispatch
import HTTPEngine
import HTTPTypes
import SystemIO
import TestSupport
import Testing

/// Receiving of request bodies.
@Suite(.alsoOverTLS, .timeLimit(.minutes(5 * Sanitizer.slowness))) struct HTTPServerBodyTests {
  /// Returns a chunked body of `count` bytes.
  private static func chunked(_ count: Int) -> String {
    String(count, radix: 16) + "\r\n" + String(repeating: "a", count: count) + "\r\n0\r\n\r\n"
  }

  @Test(arguments: [1, 1000, 16 * 1024, 16 * 1024 + 1, 256 * 1024, 3_000_000])
  func `a body is received completely`(size: Int) async throws {
    try await withServer(handler: echo) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        let body = repeatedPattern(size)
        try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(size)\r\n\r\n")
        try client.send(body)
        #expect(try client.receiveResponse().body == body)
        try client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        for start in stride(from: 0, to: size, by: 100_001) {
          let piece = body[start..<min(start + 100_001, size)]
          try client.send("\(String(piece.count, radix: 16));x=y\r\n")
          try client.send(Array(piece))
          try client.send("\r\n")
        }
        try client.send("0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.receiveResponse().body == body)
        #expect(try client.receiveResponse().text == "GET /")
      }
    }
  }

  @Test func `100 Continue is sent when the body is requested`() async throws {
    try await withServer(handler: { request in
      if request.path == "/refuse" { return HTTPServerResponse(status: .forbidden) }
      return try await echo(request)
    }) { _, port in
      try await RawHTTPClient.run {
        let head = "HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
        let client = try RawHTTPClient(port: port)
        try client.send("POST / " + head)
        #expect(try client.receiveResponse().status == 100)
        try client.send("hello")
        #expect(try client.receiveResponse().text == "hello")
        // A client that does not wait gets no 100 Continue.
        try client.send("POST / " + head + "hello")
        #expect(try client.receiveResponse().text == "hello")
        // The error response is sent instead. Whether the body follows is unknown, so the connection closes.
        try client.send("POST /refuse " + head)
        let refusal = try client.receiveResponse()
        #expect(refusal.status == 403)
        #expect(refusal.field("Connection") == "close")
      }
    }
  }

  @Test func `an unknown expectation is rejected`() async throws {
    try await withServer(handler: echo) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send("GET / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n")
        #expect(try client.receiveResponse().status == 417)
        #expect(client.isClosedByPeer())
      }
    }
  }

  @Test func `a body is accepted up to the server's limit`() async throws {
    try await withServer(configure: { $0.limits.bodyBytes = 100 }, handler: echo) { _, port in
      try await RawHTTPClient.run {
        for size in [99, 100, 101] {
          let client = try RawHTTPClient(port: port)
          try client.send(
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + Self.chunked(size))
          let response = try client.receiveResponse()
          #expect(response.status == (size > 100 ? 413 : 200))
          if size > 100 {
            #expect(client.isClosedByPeer())
            let eager = try RawHTTPClient(port: port)
            try eager.send(
              "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\nExpect: 100-continue\r\n\r\n")
            #expect(try eager.receiveResponse().status == 413)
          } else {
            try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(size)\r\n\r\n")
            try client.send(String(repeating: "a", count: size))
            #expect(try client.receiveResponse().body.count == size)
          }
        }
      }
    }
  }

  @Test func `a handler can lower the limit`() async throws {
    try await withServer(handler: { request in
      HTTPServerResponse(status: .ok, body: .bytes(try await request.body.collect(upTo: 100)))
    }) { _, port in
      try await RawHTTPClient.run {
        for size in [99, 100, 101] {
          for fields in ["Transfer-Encoding: chunked", "Content-Length: \(size)\r\nExpect: 100-continue"] {
            let client = try RawHTTPClient(port: port)
            try client.send("POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n")
            if fields.hasPrefix("T") {
              try client.send(Self.chunked(size))
            } else if size <= 100 {
              #expect(try client.receiveResponse().status == 100)
              try client.send(String(repeating: "a", count: size))
            }
            #expect(try client.receiveResponse().status == (size > 100 ? 413 : 200))
          }
        }
      }
    }
  }

  @Test func `a malformed coding is rejected while it is received`() async throws {
    try await withServer(handler: echo) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send(
          "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcX\r\n0\r\n\r\n")
        let response = try client.receiveResponse()
        #expect(response.status == 400)
        #expect(response.field("Content-Type") == "application/problem+json")
        #expect(client.isClosedByPeer())
      }
    }
  }

  @Test func `a small unread body is dropped and the connection is kept open`() async throws {
    try await withServer(
      configure: { $0.limits.drainBytes = 1000 }, handler: { _ in HTTPServerResponse(status: .ok) }
    ) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        for size in [999, 1000, 1001] {
          try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(size)\r\n\r\n")
          let response = try client.receiveResponse()
          #expect(response.status == 200)
          #expect(response.field("Connection") == (size > 1000 ? "close" : nil))
          if size <= 1000 { try client.send(String(repeating: "a", count: size)) }
        }
        // The client can continue sending for a while without losing the response to a connection reset.
        try client.send(String(repeating: "a", count: 100_000))
        client.endSending()
        #expect(client.isClosedByPeer())
      }
    }
  }

  @Test(arguments: ["Content-Length: 10", "Transfer-Encoding: chunked"], [true, false])
  func `a handler is notified when the client disconnects`(framing: String, isReset: Bool) async throws {
    let seen = Lock<(any Error)?>(nil)
    let began = Signal()
    let ended = Signal()
    try await withServer(handler: { request in
      do {
        for try await _ in request.body { began.fire() }
      } catch {
        seen.withLock { $0 = error }
        ended.fire()
        throw error
      }
      return HTTPServerResponse(status: .ok)
    }) { _, port in
      let client = try RawHTTPClient(port: port)
      try client.send("POST / HTTP/1.1\r\nHost: a\r\n\(framing)\r\n\r\n5\r\nhe")
      await began.wait()
      if isReset { client.reset() } else { client.endSending() }
      await ended.wait()
      #expect(seen.withLock { $0 as? HTTPBodyError } == .disconnected)
    }
  }

  @Test func `a handler that does not read stops the sender`() async throws {
    let gate = Signal()
    let began = Signal()
    let taken = Counter()
    try await withServer(handler: { request in
      var iterator = request.body.makeAsyncIterator()
      taken.add(try await iterator.next()?.count ?? 0)
      began.fire()
      await gate.wait()
      while let piece = try await iterator.next() { taken.add(piece.count) }
      return HTTPServerResponse(status: .ok)
    }) { _, port in
      let client = try RawHTTPClient(port: port)
      let size = 200 << 20
      try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(size)\r\n\r\n")
      let first = try await RawHTTPClient.run { client.sendWithoutWaiting(upTo: 1 << 20) }
      await began.wait()
      // The kernel's buffers fill up and sending blocks, long before 200 MB were sent.
      let sent = first + (try await RawHTTPClient.run { client.sendUntilStuck(upTo: size - first) })
      #expect(sent < 64 << 20)
      #expect(taken.value <= 256 * 1024)
      gate.fire()
      let rest = size - sent
      let response = try await RawHTTPClient.run {
        var left = rest
        let block = [UInt8](repeating: 0x61, count: 1 << 20)
        while left > 0 {
          try client.send(left < block.count ? Array(block[..<left]) : block)
          left -= min(left, block.count)
        }
        return try client.receiveResponse()
      }
      #expect(response.status == 200)
      #expect(taken.value == size)
    }
  }

  @Test func `uploads continue when the pool of buffers is exhausted`() async throws {
    try await withServer(configure: { $0.limits.bodyBuffers = 1 }, handler: echo) { _, port in
      try await RawHTTPClient.run {
        let clients = try (0..<8).map { _ in try RawHTTPClient(port: port) }
        let body = [UInt8](repeating: 0x62, count: 100_000)
        for client in clients {
          try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n")
        }
        for _ in 0..<2 { for client in clients { try client.send(body) } }
        for client in clients { #expect(try client.receiveResponse().body == body + body) }
      }
    }
  }

  @Test func `a body can be echoed while it is received`() async throws {
    try await withServer(handler: { request in
      let pieces = request.body
      let iterator = Lock(pieces.makeAsyncIterator())
      return HTTPServerResponse(
        status: .ok,
        body: .stream {
          var copy = iterator.withLock { $0 }
          return try await copy.next()?.bytes
        })
    }) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n")
        var seen = ""
        while !seen.contains("\r\n\r\n2\r\nab\r\n") {
          seen += String(decoding: try client.receiveExactly(1), as: UTF8.self)
        }
        try client.send("0\r\n\r\n")
        #expect(try client.receiveExactly(5) == Array("0\r\n\r\n".utf8))
        try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx")
        #expect(try client.receiveResponse().text == "x")
      }
    }
  }

  @Test func `a body that is read after its request has ended throws an error`() async throws {
    let kept = Lock<HTTPRequestBody?>(nil)
    try await withServer(handler: { request in
      kept.withLock { $0 = request.body }
      return HTTPServerResponse(status: .ok)
    }) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
        #expect(try client.receiveResponse().status == 200)
      }
      let body = try #require(kept.withLock { $0.take() })
      await #expect(throws: HTTPBodyError.disconnected) { try await body.collect(upTo: 10) }
    }
  }

  /// Sends a request, and passes its body to the closure while the handler waits.
  private func withHeldBody(
    sending request: String, _ body: (RawHTTPClient, HTTPRequestBody) async throws -> Void
  ) async throws {
    let kept = Lock<HTTPRequestBody?>(nil)
    let (began, gate) = (Signal(), Signal())
    try await withServer(handler: { request in
      kept.withLock { $0 = request.body }
      began.fire()
      await gate.wait()
      return HTTPServerResponse(status: .ok)
    }) { _, port in
      let client = try RawHTTPClient(port: port)
      try client.send(request)
      await began.wait()
      try await body(client, try #require(kept.withLock { $0.take() }))
      gate.fire()
    }
  }

  @Test func `a cancelled reader never waits, however early it was cancelled`() async throws {
    try await withHeldBody(sending: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n") { _, body in
      for _ in 0..<2000 {
        let reader = Task.detached {
          var pieces = body.makeAsyncIterator()
          return try await pieces.next()
        }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
      }
    }
  }

  @Test(.timeLimit(.minutes(5 * Sanitizer.slowness)))
  func `a reader cancelled on the loop never waits, even if its read is still in the mailbox`()
    async throws
  {
    let (readers, outcomes) = (IdleExecutor(), Counter())
    try await withServer(handler: { request in
      let reader = Task(executorPreference: readers) {
        var pieces = request.body.makeAsyncIterator()
        return try await pieces.next()
      }
      // This runs on the loop. While it waits here, the read remains in the loop's mailbox.
      readers.waitUntilIdle()
      reader.cancel()
      do {
        _ = try await reader.value
      } catch is CancellationError {
        outcomes.add()
      }
      return HTTPServerResponse(status: .ok)
    }) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port, timeoutSeconds: 20)
        try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n")
        #expect(try client.receiveResponse().status == 200)
      }
    }
    #expect(outcomes.value == 1)
  }

  @Test func `a cancelled reader gets the bytes already received`() async throws {
    let request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 40000\r\n\r\nwith the head"
    try await withHeldBody(sending: request) { client, body in
      try client.send([UInt8](repeating: 0x61, count: 30_000))
      let cancelled = Signal()
      let reader = Task.detached {
        await Task { await cancelled.wait() }.value
        var count = 0
        do {
          for try await piece in body { count += piece.count }
        } catch {
          #expect(error is CancellationError)
        }
        return count
      }
      reader.cancel()
      cancelled.fire()
      #expect(await reader.value == 30_013)
    }
  }
}

/// Runs jobs on a queue. A thread can wait until there are none.
private final class IdleExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "test.readers")
  private let running = DispatchGroup()

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedTaskExecutor()
    queue.async(group: running) { job.runSynchronously(on: executor) }
  }

  func waitUntilIdle() { running.wait() }
}
