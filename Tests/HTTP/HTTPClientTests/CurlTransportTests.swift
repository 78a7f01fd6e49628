#if os(Linux)
  import Foundation
  import HTTPClient
  import HTTPTypes
  import SystemIO
  import TestSupport
  import Testing

  /// Behavior that the contract does not specify, or that `URLSession` can't provide.
  @Suite struct CurlTransportTests {
    @Test func `this machine is reached without the environment's proxy`() async throws {
      await #expect(processExitsWith: .success) {
        setenv("http_proxy", "http://127.0.0.1:1", 1)
        let server = try ScriptedServer { connection in
          try connection.readRequest()
          try connection.respond("200 OK")
        }
        #expect(try await CurlTransport().send(to: server).head.status.code == 200)
      }
    }

    @Test(arguments: [-1, 0, 1])
    func `a header section has a size limit`(difference: Int) async throws {
      let start = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
      let rest = TransportLimits.headBytes + difference - start.utf8.count - 2
      let lines = (0..<4).map { number in
        let length = number < 3 ? 60_000 : rest - 180_000
        return "X-Pad: " + String(repeating: "x", count: length - 9) + "\r\n"
      }
      let server = try ScriptedServer { connection in
        try connection.readRequest()
        try connection.write(start + lines.joined() + "\r\n")
      }
      let result = await outcome { () async throws(TransportError) in
        try await CurlTransport().send(to: server).head.status.code
      }
      let limit = Int64(TransportLimits.headBytes)
      #expect(result == (difference <= 0 ? .success(200) : .failure(.responseTooLarge(limit: limit))))
    }

    @Test func `a repeated field stays two fields`() async throws {
      let server = try ScriptedServer { connection in
        try connection.readRequest()
        try connection.respond("200 OK", ["Warning: a", "Warning: b,\r\n\tc"])
      }
      let name = try #require(HTTPField.Name("Warning"))
      #expect(try await CurlTransport().send(to: server).head.headerFields[values: name] == ["a", "b, c"])
    }

    @Test func `an empty field is sent`() async throws {
      let server = try ScriptedServer { connection in
        try connection.readRequest()
        try connection.respond("200 OK")
      }
      let name = try #require(HTTPField.Name("X-Empty"))
      _ = try await CurlTransport().send(to: server, fields: [name: ""])
      #expect(server.requests.first?["x-empty"] == "")
    }

    @Test(arguments: [(1_048_575, false), (1_048_576, true), (1_048_577, true)])
    func `only a large body waits for 100 Continue`(body: (count: Int, waits: Bool)) async throws {
      let server = try ScriptedServer { connection in
        try connection.readRequest()
        try connection.respond("200 OK")
      }
      _ = try await CurlTransport().send(.put, to: server, body: .bytes(Data(count: body.count)))
      #expect(server.requests.first?["expect"] == (body.waits ? "100-continue" : nil))
    }

    @Test func `an upload stops once the response is complete`() async throws {
      let folder = try TemporaryFolder()
      let file = try folder.write(Data(count: 50_000_000), to: "up")
      let hasEnded = Signal()
      let arrived = Lock(0)
      let server = try ScriptedServer { connection in
        defer { hasEnded.fire() }
        try connection.readHead()
        try connection.write("HTTP/1.1 100 Continue\r\n\r\n")
        try connection.readBody(100_000) { _ in }
        try connection.respond("413 Content Too Large", body: "no".utf8)
        try connection.readBody(49_900_000) { piece in arrived.withLock { $0 += piece.count } }
      }
      let response = try await CurlTransport().send(.put, to: server, body: .file(file))
      #expect(response.head.status.code == 413)
      #expect(response.body == Data("no".utf8))
      await hasEnded.wait()
      #expect(arrived.withLock { $0 } < 49_000_000)
    }

    @Test func `PUT is repeated if a kept connection was closed, POST uses a new connection`() async throws {
      let body = TransportBody.bytes(Data("body".utf8))
      for (method, targets) in [(HTTPRequest.Method.put, ["/1", "/2", "/2"]), (.post, ["/1", "/2"])] {
        let server = try ScriptedServer(
          { connection in
            try connection.readRequest()
            try connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            try connection.readRequest()
          },
          { connection in
            let (_, received) = try connection.readRequest()
            try connection.respond("200 OK", body: received)
          })
        let transport = CurlTransport()
        _ = try await transport.send(method, "/1", to: server, body: body)
        #expect(try await transport.send(method, "/2", to: server, body: body).body == Data("body".utf8))
        #expect(server.requests.map(\.target) == targets)
      }
    }

    @Test func `nothing is sent to a server that does not support TLS`() async throws {
      let server = try ScriptedServer { connection in
        try connection.write("HTTP/1.1 400 Bad Request\r\n\r\n")
        try connection.waitForClose()
      }
      await #expect {
        try await CurlTransport().send(
          HTTPRequest(method: .get, scheme: "https", authority: server.authority, path: "/"), body: .none,
          destination: .memory(limit: 10), timeouts: .init(), events: nil)
      } throws: { error in
        if case .connectionFailed? = error as? TransportError { true } else { false }
      }
    }
  }
#endif
