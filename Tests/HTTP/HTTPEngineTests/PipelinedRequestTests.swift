import HTTPEngine
import HTTPTypes
import TestSupport
import Testing

/// Requests that are received together, in pieces, or in sequence on one connection.
@Suite(.alsoOverTLS, .timeLimit(.minutes(5 * Sanitizer.slowness))) struct PipelinedRequestTests {
  private struct Unexpected: Error {}

  private static let path = PathParameter("path") { $0 }
  private static let router = Router([
    Route(.get, "/text/{path}") { text(try $0.value(of: path)) },
    Route(.post, "/text/{path}") { text(try $0.value(of: path)) },
    Route(.get, "/either/{path}") { routed in
      let name = try routed.value(of: path)
      if !name.hasSuffix("0") { await Task.yield() }
      return text(name)
    },
    Route(.get, "/stream") { _ in
      let pieces = Pieces(["one, ", "two, ", "three"])
      return HTTPServerResponse(
        status: .ok, headerFields: [.contentType: "text/plain"], body: .stream { pieces.next() })
    },
    Route(.get, "/problem") { _ in throw HTTPProblem.badRequest("no") },
    Route(.get, "/failure") { _ in throw Unexpected() },
    Route(.get, "/large") { _ in text(String(repeating: "x", count: 4 << 20)) },
  ])

  /// The pieces of a stream. Each is returned once.
  private final class Pieces: Sendable {
    private let pieces: [String]
    private let index = Counter()

    init(_ pieces: [String]) { self.pieces = pieces }

    func next() -> [UInt8]? {
      defer { index.add() }
      return index.value < pieces.count ? Array(pieces[index.value].utf8) : nil
    }
  }

  private static func text(_ text: String) -> HTTPServerResponse {
    HTTPServerResponse(
      status: .ok, headerFields: [.contentType: "text/plain"], body: .bytes(Array(text.utf8)))
  }

  private func withRouter(
    configure: (inout HTTPServer.Configuration) -> Void = { _ in },
    _ body: @escaping @Sendable (RawHTTPClient) throws -> Void
  ) async throws {
    try await withServer(configure: configure, handler: Self.router) { _, port in
      try await RawHTTPClient.run { try body(RawHTTPClient(port: port)) }
    }
  }

  @Test func `requests received together get responses in order, whether or not their handlers wait`()
    async throws
  {
    try await withRouter { client in
      let paths = (0..<900).map { ["/text/\($0)", "/either/\($0)"][$0 / 7 % 2] }
      try client.send(paths.map { "GET \($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
      for index in paths.indices { #expect(try client.receiveResponse().text == "\(index)") }
    }
  }

  @Test func `all requests of one read get responses in one turn`() async throws {
    let count = 5000
    try await withRouter(configure: { $0.limits.pipelinedRequests = .max }) { client in
      let request = "GET /text/a HTTP/1.1\r\nHost: a\r\n\r\n"
      try client.send(String(repeating: request, count: count))
      client.endSending()
      for _ in 0..<count { #expect(try client.receiveResponse().text == "a") }
      #expect(try client.receiveAll().isEmpty)
    }
  }

  @Test func `a head in pieces gets a response when it is complete`() async throws {
    try await withRouter { client in
      for piece in [
        "GET /text/a HT", "TP/1.1\r\nHost: a\r", "\n\r\nGET /text/b HTTP/1.1\r\nHost: a\r\n\r\nGET /t",
      ] {
        try client.send(piece)
      }
      for text in ["a", "b"] { #expect(try client.receiveResponse().text == text) }
      try client.send("ext/c HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try client.receiveResponse().text == "c")
    }
  }

  @Test func `a stream is sent piece by piece, and not for HEAD`() async throws {
    try await withRouter { client in
      try client.send("HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\nGET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try client.receiveResponse(toHEAD: true).status == 200)
      #expect(try client.receiveResponse().text == "one, two, three")
    }
  }

  @Test func `an error becomes its status, and the connection is reused`() async throws {
    try await withRouter { client in
      for (path, status) in [("/problem", 400), ("/failure", 500), ("/nowhere", 404), ("/text/a", 200)] {
        try client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.receiveResponse().status == status)
      }
    }
  }

  @Test func `a small unread body is dropped, and a malformed one is rejected`() async throws {
    try await withRouter { client in
      try client.send(
        "POST /text/a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloGET /text/b HTTP/1.1\r\nHost: a\r\n\r\n"
      )
      for text in ["a", "b"] { #expect(try client.receiveResponse().text == text) }
      try client.send("POST /text/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
      #expect(try client.receiveResponse().status == 400)
      #expect(client.isClosedByPeer())
    }
  }

  @Test func `a slow client gets a complete response before the next one`() async throws {
    try await withServer(handler: Self.router) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port, receiveBuffer: 16 * 1024)
        try client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\nGET /text/b HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.receiveResponse().body.count == 4 << 20)
        #expect(try client.receiveResponse().text == "b")
      }
    }
  }

  @Test func `the last request of a connection gets a response, and later ones do not`() async throws {
    try await withRouter(configure: { $0.limits.requestsPerConnection = 2 }) { client in
      try client.send(String(repeating: "GET /text/a HTTP/1.1\r\nHost: a\r\n\r\n", count: 3))
      for _ in 0..<2 { #expect(try client.receiveResponse().text == "a") }
      #expect(try client.receiveAll().isEmpty)
    }
  }
}
