import Foundation
import HTTPEngine
import HTTPTypes
import SystemIO
import TestSupport
import Testing

/// Deadlines, error responses, limits, and shutdown.
@Suite(.alsoOverTLS, .timeLimit(.minutes(5 * Sanitizer.slowness))) struct HTTPServerLimitTests {
  @Test(arguments: [
    ("GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n", 400), ("GET / HTTP/3.0\r\nHost: a\r\n\r\n", 505),
    ("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 405),
    ("GET /" + String(repeating: "a", count: 9000) + " HTTP/1.1\r\n", 414),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "a", count: 40_000), 431),
    ("GET / HTTP/1.1\r\n" + String(repeating: "X: y\r\n", count: 101), 431),
  ]) func `an error is sent as a problem and closes the connection`(request: String, status: Int) async throws
  {
    try await withServer(handler: echo) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send(request)
        let response = try client.receiveResponse()
        #expect(response.status == status)
        #expect(response.field("Content-Type") == "application/problem+json")
        #expect(response.field("Connection") == "close")
        #expect(response.field("X-Request-Id")?.count == 12)
        #expect(response.text.contains("\"status\":\(status),"))
        client.endSending()
        #expect(client.isClosedByPeer())
      }
    }
  }

  @Test func `the bytes after a rejected request are never parsed as a request`() async throws {
    let count = Counter()
    try await withServer(handler: { request in
      count.add()
      return try await echo(request)
    }) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send(
          "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
            + "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.receiveResponse().status == 400)
        try client.send("GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
        client.endSending()
        #expect(try client.receiveAll().isEmpty)
      }
      #expect(count.value == 0)
    }
  }

  @Test func `a head that takes too long gets 408`() async throws {
    try await withServer(configure: { $0.limits.headTime = .milliseconds(50) }, handler: echo) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send("GET / HTTP/1.1\r\nHost:")
        #expect(try client.receiveResponse().status == 408)
        client.endSending()
        #expect(client.isClosedByPeer())
        // The limit also applies to a second request.
        let other = try RawHTTPClient(port: port)
        try other.send("GET / HTTP/1.1\r\nHost: a\r\n\r\nG")
        #expect(try other.receiveResponse().status == 200)
        #expect(try other.receiveResponse().status == 408)
      }
    }
  }

  @Test func `bytes that keep arriving give a head no more time`() async throws {
    try await withServer(configure: { $0.limits.headTime = .milliseconds(300) }, handler: echo) { _, port in
      for first in ["G", "GET / HTTP/1.1\r\nHost: a\r\n\r\nG"] {
        let client = try RawHTTPClient(port: port)
        try client.send(first)
        let isAnswered = Lock(false)
        async let sending: Bool = RawHTTPClient.run {
          // The delays add up to at least twenty seconds, far more than a busy server needs to check its deadlines.
          for _ in 0..<1000 where !isAnswered.value {
            try client.send("E")
            Thread.sleep(forTimeInterval: 0.02)
          }
          return isAnswered.value
        }
        let statuses = try await RawHTTPClient.run {
          defer { isAnswered.set(true) }
          var statuses = [try client.receiveResponse().status]
          if first.count > 1 { statuses.append(try client.receiveResponse().status) }
          return statuses
        }
        #expect(statuses == (first.count > 1 ? [200, 408] : [408]))
        let wasAnsweredInTime = try await sending
        #expect(wasAnsweredInTime)
      }
    }
  }

  @Test func `a body that is too slow gets 408`() async throws {
    let seen = Lock<HTTPBodyError?>(nil)
    try await withServer(
      configure: {
        $0.limits.bodyGrace = .milliseconds(40)
        $0.limits.bodyWindow = .milliseconds(40)
        $0.limits.bodyBytesPerSecond = 1 << 20
      },
      handler: { request in
        do {
          return try await echo(request)
        } catch let error as HTTPBodyError {
          seen.withLock { $0 = error }
          throw error
        }
      }
    ) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello")
        #expect(try client.receiveResponse().status == 408)
        client.endSending()
        #expect(client.isClosedByPeer())
      }
      #expect(seen.withLock { $0 } == .tooSlow)
    }
  }

  @Test func `an idle connection is closed without a response`() async throws {
    try await withServer(configure: { $0.limits.idleTime = .seconds(3) }, handler: echo) { _, port in
      try await RawHTTPClient.run {
        let silent = try RawHTTPClient(port: port)
        #expect(try silent.receiveAll().isEmpty)
        let served = try RawHTTPClient(port: port)
        try served.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try served.receiveResponse().status == 200)
        #expect(try served.receiveAll().isEmpty)
      }
    }
  }

  @Test func `a client that does not read its response is disconnected`() async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: HTTPExchange.self)
    try await withServer(
      configure: {
        $0.limits.writeStallTime = .milliseconds(100)
        $0.onResponse = { continuation.yield($0) }
      },
      handler: { _ in HTTPServerResponse(status: .ok, body: .bytes([UInt8](repeating: 0, count: 64 << 20))) }
    ) { _, port in
      let client = try RawHTTPClient(port: port, receiveBuffer: 16 * 1024)
      try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      for await exchange in stream {
        #expect(!exchange.isComplete)
        #expect(exchange.bytesSent > 0)
        #expect(exchange.bytesSent < 64 << 20)
        break
      }
      #expect(try await RawHTTPClient.run { try client.receive(upTo: 15) } == Array("HTTP/1.1 200 OK".utf8))
    }
  }

  @Test func `connections beyond the limits get 503, and are accepted again later`() async throws {
    try await withServer(configure: { $0.limits.connectionsPerAddress = 2 }, handler: echo) { _, port in
      try await RawHTTPClient.run {
        let request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        let first = try RawHTTPClient(port: port)
        let second = try RawHTTPClient(port: port)
        for client in [first, second] {
          try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
          #expect(try client.receiveResponse().status == 200)
        }
        let third = try RawHTTPClient(port: port)
        let refusal = try third.receiveResponse()
        #expect(refusal.status == 503)
        #expect(refusal.field("Retry-After") != nil)
        try first.send(request)
        #expect(try first.receiveResponse().status == 200)
        #expect(first.isClosedByPeer())
        let fourth = try RawHTTPClient(port: port)
        try fourth.send(request)
        #expect(try fourth.receiveResponse().status == 200)
      }
    }
  }

  @Test func `a connection closes after the maximum number of requests`() async throws {
    try await withServer(configure: { $0.limits.requestsPerConnection = 2 }, handler: echo) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send(String(repeating: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", count: 3))
        #expect(try client.receiveResponse().field("Connection") == nil)
        #expect(try client.receiveResponse().field("Connection") == "close")
        client.endSending()
        #expect(try client.receiveAll().isEmpty)
      }
    }
  }

  // MARK: Errors of handlers

  @Test func `a handler's problem is sent, and any other error is hidden`() async throws {
    struct Secret: Error {}
    try await withServer(handler: { request in
      if request.path == "/problem" {
        throw HTTPProblem(
          status: .conflict, type: "https://example.org/taken", title: "Taken", detail: "It is taken.",
          headerFields: [.allow: "GET"])
      }
      throw Secret()
    }) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send("GET /problem HTTP/1.1\r\nHost: a\r\n\r\n")
        let problem = try client.receiveResponse()
        #expect(problem.status == 409)
        #expect(problem.field("Allow") == "GET")
        #expect(problem.text.contains("https://example.org/taken"))
        try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        let failure = try client.receiveResponse()
        #expect(failure.status == 500)
        #expect(!failure.text.contains("Secret"))
        #expect(failure.field("X-Request-Id")?.count == 12)
      }
    }
  }

  @Test func `exchanges are reported`() async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: HTTPExchange.self)
    try await withServer(configure: { $0.onResponse = { continuation.yield($0) } }, handler: echo) {
      _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send("GET /path?secret HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try client.receiveResponse()
        try client.send("nonsense\r\n\r\n")
        _ = try client.receiveResponse()
      }
      var exchanges: [HTTPExchange] = []
      for await exchange in stream {
        exchanges.append(exchange)
        if exchanges.count == 2 { break }
      }
      #expect(exchanges.map(\.method) == ["GET", "-"])
      #expect(exchanges.map(\.path) == ["/path", "-"])
      #expect(exchanges.map(\.status) == [200, 400])
      #expect(exchanges.allSatisfy { $0.isComplete && $0.bytesSent > 50 && $0.duration > .zero })
      #expect(exchanges[0].bytesReceived == 38)
    }
  }

  @Test func `a handler is cancelled when its client disconnects`() async throws {
    let began = Signal()
    let cancelled = Signal()
    try await withServer(handler: { _ in
      await withTaskCancellationHandler {
        began.fire()
        await cancelled.wait()
      } onCancel: {
        cancelled.fire()
      }
      return HTTPServerResponse(status: .ok)
    }) { _, port in
      let client = try RawHTTPClient(port: port)
      try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      await began.wait()
      client.reset()
      await cancelled.wait()
    }
  }

  // MARK: Start and shutdown

  @Test func `a port in use gives a clear error`() async throws {
    try await withServer(handler: echo) { _, port in
      let other = HTTPServer(
        configuration: .init(port: port), handler: ClosureHandler(body: echo), logger: silentLogger)
      await #expect(throws: HTTPServerError.addressInUse(.network(SocketAddress(.loopback, port: port)))) {
        try await other.start()
      }
    }
  }

  @Test func `a host name is rejected`() async throws {
    let server = HTTPServer(
      configuration: .init(host: "example.org"), handler: ClosureHandler(body: echo), logger: silentLogger)
    await #expect(throws: HTTPServerError.invalidHost("example.org")) { try await server.start() }
  }

  @Test func `a shutdown waits for running requests and closes idle connections`() async throws {
    let began = Signal()
    let gate = Signal()
    try await withServer(handler: { request in
      began.fire()
      await gate.wait()
      return try await echo(request)
    }) { server, port in
      let idle = try RawHTTPClient(port: port)
      let busy = try RawHTTPClient(port: port)
      try busy.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      await began.wait()
      async let end: Void = server.shutdown(deadline: .seconds(10))
      #expect(try await RawHTTPClient.run { idle.isClosedByPeer() })
      gate.fire()
      let response = try await RawHTTPClient.run { try busy.receiveResponse() }
      #expect(response.text == "GET /")
      #expect(response.field("Connection") == "close")
      await end
      #expect(throws: RawHTTPClient.Failure.self) { try RawHTTPClient(port: port) }
    }
  }

  @Test func `a shutdown aborts requests that exceed the deadline`() async throws {
    let began = Signal()
    let cancelled = Signal()
    try await withServer(handler: { _ in
      began.fire()
      await withTaskCancellationHandler {
        await cancelled.wait()
      } onCancel: {
        cancelled.fire()
      }
      return HTTPServerResponse(status: .ok)
    }) { server, port in
      let client = try RawHTTPClient(port: port)
      try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      await began.wait()
      await server.shutdown(deadline: .milliseconds(20))
      await cancelled.wait()
      #expect(try await RawHTTPClient.run { try client.receiveAll() }.isEmpty)
    }
  }

  @Test func `running ends with a shutdown, and when the task is cancelled`() async throws {
    for byCancelling in [true, false] {
      var configuration = HTTPServer.Configuration(port: 0)
      configuration.shutdownDeadline = .zero
      let server = HTTPServer(
        configuration: configuration, handler: ClosureHandler(body: echo), logger: silentLogger)
      try await server.start()
      let task = Task { try await server.run() }
      if byCancelling { task.cancel() } else { await server.shutdown(deadline: .zero) }
      try await task.value
      await #expect(throws: HTTPServerError.alreadyStarted) { try await server.start() }
    }
  }
}
