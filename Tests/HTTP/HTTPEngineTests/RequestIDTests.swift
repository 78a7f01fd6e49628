import HTTPEngine
import HTTPTypes
import TestSupport
import Testing

/// The ids of requests, in responses and reported exchanges.
@Suite(.alsoOverTLS, .timeLimit(.minutes(5 * Sanitizer.slowness))) struct RequestIDTests {
  private final class Value: Sendable {}

  /// Returns the ids in the response and in the exchange for a request with `fields`.
  private func ids(
    _ fields: String, line: String = "GET / HTTP/1.1"
  ) async throws -> (answered: String, told: String) {
    let (stream, continuation) = AsyncStream.makeStream(of: HTTPExchange.self)
    var ids = (answered: "", told: "")
    try await withServer(
      configure: { $0.onResponse = { continuation.yield($0) } },
      handler: { request in throw HTTPProblem.badRequest("\(request.id)") }
    ) { _, port in
      ids.answered = try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send("\(line)\r\nHost: a\r\n\(fields)\r\n")
        return try client.receiveResponse().field("X-Request-Id") ?? ""
      }
      for await exchange in stream {
        ids.told = exchange.requestID
        break
      }
    }
    return ids
  }

  @Test(arguments: [
    "a", "3f2b8c1e-0000-4000-8000-000000000001", "Root=1-67:a/b+c@d~e_f.g",
    String(repeating: "x", count: 127),
    String(repeating: "x", count: 128),
  ]) func `a client's own id is used`(id: String) async throws {
    let ids = try await ids("x-request-ID: \t\(id) \r\n")
    #expect(ids.answered == id)
    #expect(ids.told == id)
  }

  @Test(arguments: [
    "X-Request-Id: a b\r\n", "X-Request-Id:\r\n", "X-Request-Id: a\"b\r\n", "X-Request-Id: \u{e4}\r\n",
    "X-Request-Id: a\r\nX-Request-Id: a\r\n", "X-Request-Id: a\r\nX-Request-Id: \r\nX-Request-Id: a\r\n",
    "X-Request-Id: \(String(repeating: "x", count: 129))\r\n", "X-Request-Id2: a\r\n", "",
  ]) func `an invalid id is replaced by one of the server`(field: String) async throws {
    let ids = try await ids(field)
    #expect(ids.answered.utf8.count == 12)
    #expect(ids.told == ids.answered)
  }

  @Test func `the engine's error responses have the client's id`() async throws {
    let ids = try await ids("X-Request-Id: mine\r\nExpect: wonders\r\n")
    #expect(ids.answered == "mine")
    #expect(ids.told == "mine")
  }

  @Test func `the response to a rejected head has an id of the server`() async throws {
    let ids = try await ids("X-Request-Id: mine\r\n bad\r\n")
    #expect(ids.answered.utf8.count == 12)
    #expect(ids.told == ids.answered)
  }

  @Test func `the exchange has the handler's value and the number of body bytes`() async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: HTTPExchange.self)
    let value = Value()
    let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"
    try await withServer(
      configure: { $0.onResponse = { continuation.yield($0) } },
      handler: { request in
        request.userInfo = value
        _ = try await request.body.collect(upTo: 10)
        return HTTPServerResponse(status: .ok)
      }
    ) { server, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send(head + "12345")
        #expect(try client.receiveResponse().status == 200)
        #expect(server.openConnections == 1)
      }
      for await exchange in stream {
        #expect(exchange.userInfo === value)
        #expect(exchange.bytesReceived == Int64(head.utf8.count + 5))
        break
      }
    }
  }
}
