import Foundation
import HTTPClient
import HTTPTypes
import TestSupport
import Testing

/// The exact bytes of requests and responses.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct TransportMessageTests {
  @Test(arguments: TransportKind.allCases)
  func `status, fields and body are those that the server sent`(kind: TransportKind) async throws {
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.respond(
        "404 Not Found", ["X-Empty:", "X-Text:  a b \t", "ETag: \"x\""], body: "gone".utf8)
    }
    let response = try await kind.make().send(.get, "/a%2Fb?c=d%23", to: server, fields: [.accept: "text/x"])
    #expect(response.head.status.code == 404)
    #expect(response.body == Data("gone".utf8))
    #expect(response.head.headerFields[.eTag] == "\"x\"")
    #expect(response.head.headerFields[.init("X-Text") ?? .eTag] == "a b")
    let request = try #require(server.requests.first)
    #expect(request.line == "GET /a%2Fb?c=d%23 HTTP/1.1")
    #expect(request["host"] == server.authority)
    #expect(request["accept"] == "text/x")
    #expect(request["accept-encoding"] == "identity")
  }

  @Test(arguments: TransportKind.allCases)
  func `a repeated field keeps both values`(kind: TransportKind) async throws {
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.respond("200 OK", ["Link: <a>", "X-Between: 1", "Link: <b>"])
    }
    let response = try await kind.make().send(to: server)
    let link = try #require(HTTPField.Name("Link"))
    #expect(response.head.headerFields[link]?.filter { $0 != " " } == "<a>,<b>")
  }

  @Test(arguments: TransportKind.allCases)
  func `informational responses are skipped`(kind: TransportKind) async throws {
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.write("HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n")
      try connection.respond("200 OK", ["X-Late: 1"])
    }
    let log = EventLog()
    let response = try await kind.make().send(to: server, events: log.record)
    #expect(response.head.status.code == 200)
    #expect(response.head.headerFields[HTTPField.Name("X-Early") ?? .eTag] == nil)
    #expect(log.responses.map(\.status.code) == [200])
    #expect(log.informational.allSatisfy { $0.status.code == 103 && $0.headerFields.count == 1 })
    #if os(Linux)
      if kind == .curl { #expect(log.informational.count == 1) }
    #endif
  }

  #if os(Linux)
    @Test func `informational responses during an upload are reported immediately`() async throws {
      let server = try ScriptedServer { connection in
        let head = try connection.readHead()
        for part in 1...3 {
          try connection.readBody(100) { _ in }
          try connection.write("HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Offset: \(part)00\r\n\r\n")
        }
        try connection.readBody((head["content-length"].flatMap { Int($0) } ?? 0) - 300) { _ in }
        try connection.respond("204 No Content", ["Upload-Complete: ?0"])
      }
      let log = EventLog()
      let response = try await TransportKind.curl.make().send(
        .patch, to: server, body: .bytes(makeBytes(300_000)), events: log.record)
      #expect(response.head.status.code == 204)
      #expect(response.head.headerFields.contains { $0.name.canonicalName == "upload-complete" })
      #expect(!response.head.headerFields.contains { $0.name.canonicalName == "upload-offset" })
      #expect(log.informational.map { $0.headerFields.first?.value } == ["100", "200", "300"])
      #expect(log.responses.count == 1)
    }
  #endif

  @Test(arguments: TransportKind.allCases)
  func `a chunked body is joined`(kind: TransportKind) async throws {
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      for piece in ["3\r\nabc\r\n", "A;x=y\r\n0123456789\r\n", "0\r\n\r\n"] { try connection.write(piece) }
    }
    #expect(try await kind.make().send(to: server).body == Data("abc0123456789".utf8))
  }

  @Test(arguments: TransportKind.survivingTrailers)
  func `trailers are dropped`(kind: TransportKind) async throws {
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      try connection.write("3\r\nabc\r\n0\r\nX-Trailer: 1\r\nETag: \"x\"\r\n\r\n")
    }
    let response = try await kind.make().send(to: server)
    #expect(response.body == Data("abc".utf8))
    #expect(response.head.headerFields[.eTag] == nil)
  }

  @Test(arguments: TransportKind.allCases)
  func `the responses to HEAD and DELETE end without a body`(kind: TransportKind) async throws {
    let server = try ScriptedServer { connection in
      let request = try connection.readHead()
      if request.method == "HEAD" {
        try connection.write("HTTP/1.1 200 OK\r\nContent-Length: 500\r\nConnection: close\r\n\r\n")
      } else {
        try connection.write("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
      }
    }
    let transport = kind.make()
    let head = try await transport.send(.head, to: server)
    #expect(head.head.headerFields[.contentLength] == "500")
    #expect(head.body.isEmpty)
    let deletion = try await transport.send(.delete, to: server)
    #expect(deletion.head.status.code == 204)
    #expect(server.requests.map(\.method) == ["HEAD", "DELETE"])
  }

  @Test(arguments: TransportKind.allCases)
  func `POST without a body has a Content-Length of zero`(kind: TransportKind) async throws {
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.respond("200 OK")
    }
    _ = try await kind.make().send(.post, to: server)
    #expect(server.requests.first?["content-length"] == "0")
    #expect(server.requests.first?["transfer-encoding"] == nil)
  }

  @Test(arguments: TransportKind.allCases)
  func `a redirect is returned and not followed`(kind: TransportKind) async throws {
    let other = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.respond("200 OK")
    }
    let location = other.url.absoluteString
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.respond("302 Found", ["Location: \(location)/x"], body: "elsewhere".utf8)
    }
    let response = try await kind.make().send(to: server, fields: [.authorization: "Bearer secret"])
    #expect(response.head.status.code == 302)
    #expect(response.head.headerFields[.location] == "\(location)/x")
    #expect(other.requests.isEmpty)
  }

  @Test(arguments: TransportKind.allCases)
  func `cookies are neither stored nor sent`(kind: TransportKind) async throws {
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.respond("200 OK", ["Set-Cookie: a=b; Path=/"])
    }
    let transport = kind.make()
    for _ in 1...2 { _ = try await transport.send(to: server) }
    #expect(server.requests.count == 2)
    #expect(server.requests.allSatisfy { $0["cookie"] == nil })
  }

  @Test(
    arguments: TransportKind.allCases,
    [
      HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:1", path: "/a\r\nX-Injected: 1"),
      HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:1", path: "/a b"),
      HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:1", path: "/a#b"),
      HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:1", path: "/ä"),
      HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:1", path: "a"),
      HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:1\r\nX: 1", path: "/"),
      HTTPRequest(method: .get, scheme: "http", authority: "user:password@127.0.0.1", path: "/"),
      HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:65536", path: "/"),
      HTTPRequest(method: .get, scheme: "http", authority: "", path: "/"),
      HTTPRequest(method: .get, scheme: "file", authority: "127.0.0.1", path: "/etc/passwd"),
      HTTPRequest(method: .get, scheme: nil, authority: "127.0.0.1", path: "/"),
      HTTPRequest(method: .connect, scheme: "http", authority: "127.0.0.1:1", path: "/"),
      HTTPRequest(
        method: .get, scheme: "http", authority: "127.0.0.1:1", path: "/", headerFields: [.contentLength: "5"]
      ),
    ])
  func `an ambiguous request is rejected`(
    kind: TransportKind, request: HTTPRequest
  ) async throws {
    await #expect {
      try await kind.make().send(
        request, body: .none, destination: .memory(limit: 10), timeouts: .init(), events: nil)
    } throws: { error in
      if case .invalidRequest? = error as? TransportError { true } else { false }
    }
  }

  @Test(
    arguments: TransportKind.allCases, ["a\r\nX-Injected: 1", "a\nX-Injected: 1", "a\u{0}\rX-Injected: 1"])
  func `a field value with a line break or a NUL does not create a second field`(
    kind: TransportKind, value: String
  ) async throws {
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.respond("200 OK")
    }
    let name = try #require(HTTPField.Name("X-A"))
    let result = await outcome { () async throws(TransportError) in
      try await kind.make().send(to: server, fields: [name: value]).head.status.code
    }
    switch result {
    case .success:
      #expect(server.requests.allSatisfy { $0["x-injected"] == nil && $0["x-a"] != nil })
    case .failure(let error):
      #expect(error == .invalidRequest("the field X-A contains a line break or a NUL"))
    }
  }
}
