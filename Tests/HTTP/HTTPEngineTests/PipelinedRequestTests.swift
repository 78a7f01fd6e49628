import HTTPEngine
import HTTPTypes
import TestSupport
import Testing

/// Requests that come together, in pieces, or one after the other over one connection.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct PipelinedRequestTests {
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

  /// Pieces of a stream, each given once.
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

  @Test func `requests that came together are answered in order, whether or not their handlers wait`()
    async throws
  {
    try await withRouter { client in
      let paths = (0..<900).map { ["/text/\($0)", "/either/\($0)"][$0 / 7 % 2] }
      try client.send(paths.map { "GET \($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
      for index in paths.indices { #expect(try client.receiveResponse().text == "\(index)") }
    }
  }

  @Test func `as many requests as one read takes are answered in one turn`() async throws {
    let count = 5000
    try await withRouter(configure: { $0.limits.pipelinedRequests = .max }) { client in
      let request = "GET /text/a HTTP/1.1\r\nHost: a\r\n\r\n"
      try client.send(String(repeating: request, count: count))
      client.endSending()
      for _ in 0..<count { #expect(try client.receiveResponse().text == "a") }
      #expect(try client.receiveAll().isEmpty)
    }
  }

  @Test func `a head in pieces is answered when it is whole`() async throws {
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

  @Test func `a stream is sent piece by piece, and not to HEAD`() async throws {
    try await withRouter { client in
      try client.send("HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\nGET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try client.receiveResponse(toHEAD: true).status == 200)
      #expect(try client.receiveResponse().text == "one, two, three")
    }
  }

  @Test func `what is thrown becomes its status, and the connection goes on`() async throws {
    try await withRouter { client in
      for (path, status) in [("/problem", 400), ("/failure", 500), ("/nowhere", 404), ("/text/a", 200)] {
        try client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.receiveResponse().status == status)
      }
    }
  }

  @Test func `a small body that nobody read is dropped, and a broken one refused`() async throws {
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

  @Test func `a client that takes its time gets all of a response before the next`() async throws {
    try await withServer(handler: Self.router) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port, receiveBuffer: 16 * 1024)
        try client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\nGET /text/b HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.receiveResponse().body.count == 4 << 20)
        #expect(try client.receiveResponse().text == "b")
      }
    }
  }

  @Test func `the last request that a connection may have is answered, and no further one`() async throws {
    try await withRouter(configure: { $0.limits.requestsPerConnection = 2 }) { client in
      try client.send(String(repeating: "GET /text/a HTTP/1.1\r\nHost: a\r\n\r\n", count: 3))
      for _ in 0..<2 { #expect(try client.receiveResponse().text == "a") }
      #expect(try client.receiveAll().isEmpty)
    }
  }
}
