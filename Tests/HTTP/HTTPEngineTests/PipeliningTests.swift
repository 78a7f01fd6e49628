import Dispatch
import HTTPEngine
import HTTPTypes
import SystemIO
import TestSupport
import Testing

/// Clients that send requests without waiting for responses.
@Suite(.alsoOverTLS, .timeLimit(.minutes(5 * Sanitizer.slowness))) struct PipeliningTests {
  /// Returns how many of `count` requests, sent at once, start before a request that another client has sent meanwhile.
  private func begun(of count: Int, before path: String, limit: Int) async throws -> Int {
    let paths = Lock<[String]>([])
    let began = Signal()
    let gate = DispatchSemaphore(value: 0)
    return try await withServer(
      configure: {
        $0.eventLoops = 1
        $0.limits.pipelinedRequests = limit
      },
      handler: { request in
        paths.withLock { $0.append(request.path) }
        // The other client's request is available when the loop continues.
        if request.path == "/0" { hold(gate, began) }
        return try await echo(request)
      }
    ) { _, port in
      let (greedy, other) = (try RawHTTPClient(port: port), try RawHTTPClient(port: port))
      try await RawHTTPClient.run {
        for client in [greedy, other] {
          try client.send("GET /first HTTP/1.1\r\nHost: a\r\n\r\n")
          #expect(try client.receiveResponse().status == 200)
        }
        try greedy.send((0..<count).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
      }
      await began.wait()
      try other.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
      gate.signal()
      let texts = try await RawHTTPClient.run {
        [try other.receiveResponse().text] + (try (0..<count).map { _ in try greedy.receiveResponse().text })
      }
      #expect(texts == ["GET \(path)"] + (0..<count).map { "GET /\($0)" })
      let begun = paths.withLock { $0.dropFirst(2) }
      return try #require(begun.firstIndex(of: path)) - begun.startIndex
    }
  }

  @Test(arguments: [3, 4]) func `requests up to the limit start in one turn`(count: Int) async throws {
    #expect(try await begun(of: count, before: "/other", limit: 4) == count)
  }

  @Test func `beyond the limit other connections continue, and responses are sent in order`() async throws {
    let begun = try await begun(of: 900, before: "/other", limit: 4)
    #expect(begun < 900)
    #expect(begun.isMultiple(of: 4))
  }

  @Test func `a client that never reads can't make the server buffer its requests`() async throws {
    try await withServer(configure: { $0.limits.requestsPerConnection = .max }, handler: echo) { _, port in
      let stuck = try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port, receiveBuffer: 16 * 1024)
        let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        return client.sendUntilStuck(Array(String(repeating: request, count: 1000).utf8), upTo: 256 << 20)
      }
      #expect(stuck < 64 << 20)
    }
  }

  @Test func `all requests get responses if the client ends its side after them`() async throws {
    try await withServer(configure: { $0.limits.pipelinedRequests = 2 }, handler: echo) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send((0..<99).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
        client.endSending()
        for index in 0..<99 { #expect(try client.receiveResponse().text == "GET /\(index)") }
        #expect(try client.receiveAll().isEmpty)
      }
    }
  }

  @Test(arguments: [1, 3, 700])
  func `a client that ends its side together with its requests is not kept waiting`(count: Int) async throws {
    let began = Signal()
    let gate = DispatchSemaphore(value: 0)
    try await withServer(
      configure: {
        $0.eventLoops = 1
        $0.limits.idleTime = .seconds(600)
      },
      handler: { request in
        // The loop finds the requests and the end together when it continues.
        if request.path == "/held" { hold(gate, began) }
        return try await echo(request)
      }
    ) { _, port in
      let (holding, client) = (try RawHTTPClient(port: port), try RawHTTPClient(port: port))
      try await RawHTTPClient.run {
        try client.send("GET /first HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.receiveResponse().status == 200)
        try holding.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
      }
      await began.wait()
      try client.send((0..<count).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
      client.endSending()
      gate.signal()
      try await RawHTTPClient.run { () throws in
        for index in 0..<count { #expect(try client.receiveResponse().text == "GET /\(index)") }
        #expect(try client.receiveAll().isEmpty)
      }
    }
  }

  @Test func `a rejected request closes the connection after the responses to earlier ones`() async throws {
    try await withServer(configure: { $0.limits.pipelinedRequests = 2 }, handler: echo) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        let good = String(repeating: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", count: 5)
        try client.send(good + "GET / HTTP/1.1\r\n\r\n" + good)
        for _ in 0..<5 { #expect(try client.receiveResponse().status == 200) }
        #expect(try client.receiveResponse().status == 400)
        client.endSending()
        #expect(try client.receiveAll().isEmpty)
      }
    }
  }
}

/// Fires `began`, and blocks the thread, which is that of the loop.
private func hold(_ gate: DispatchSemaphore, _ began: Signal) {
  began.fire()
  gate.wait()
}
