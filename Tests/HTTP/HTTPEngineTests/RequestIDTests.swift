import HTTPEngine
import HTTPTypes
import TestSupport
import Testing

/// What a request is called, in answers and for whoever is told of exchanges.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct RequestIDTests {
  private final class Note: Sendable {}

  /// The ids that the answer and the exchange have for a request with `fields`.
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
  ]) func `a client's own id is taken`(id: String) async throws {
    let ids = try await ids("x-request-ID: \t\(id) \r\n")
    #expect(ids.answered == id)
    #expect(ids.told == id)
  }

  @Test(arguments: [
    "X-Request-Id: a b\r\n", "X-Request-Id:\r\n", "X-Request-Id: a\"b\r\n", "X-Request-Id: \u{e4}\r\n",
    "X-Request-Id: a\r\nX-Request-Id: a\r\n", "X-Request-Id: a\r\nX-Request-Id: \r\nX-Request-Id: a\r\n",
    "X-Request-Id: \(String(repeating: "x", count: 129))\r\n", "X-Request-Id2: a\r\n", "",
  ]) func `instead of one that is not in order the server makes one`(field: String) async throws {
    let ids = try await ids(field)
    #expect(ids.answered.utf8.count == 12)
    #expect(ids.told == ids.answered)
  }

  @Test func `the engine's own refusals carry the id that was read`() async throws {
    let ids = try await ids("X-Request-Id: mine\r\nExpect: wonders\r\n")
    #expect(ids.answered == "mine")
    #expect(ids.told == "mine")
  }

  @Test func `a refused head gets an id of the server's making`() async throws {
    let ids = try await ids("X-Request-Id: mine\r\n bad\r\n")
    #expect(ids.answered.utf8.count == 12)
    #expect(ids.told == ids.answered)
  }

  @Test func `what the handler notes comes with the exchange, and so do the bytes of the body`() async throws
  {
    let (stream, continuation) = AsyncStream.makeStream(of: HTTPExchange.self)
    let note = Note()
    let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"
    try await withServer(
      configure: { $0.onResponse = { continuation.yield($0) } },
      handler: { request in
        request.note = note
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
        #expect(exchange.note === note)
        #expect(exchange.bytesReceived == Int64(head.utf8.count + 5))
        break
      }
    }
  }
}
