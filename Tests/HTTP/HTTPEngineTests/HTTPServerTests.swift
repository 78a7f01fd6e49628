import HTTPEngine
import HTTPTypes
import SystemIO
import TestSupport
import Testing

/// The behaviour of one connection, tested with a real socket.
@Suite(.alsoOverTLS, .timeLimit(.minutes(5 * Sanitizer.slowness))) struct HTTPServerTests {
  @Test func `a request gets a response and the connection is kept open`() async throws {
    try await withServer(handler: echo) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        for path in ["/", "/one", "/two"] {
          try client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
          let response = try client.receiveResponse()
          #expect(response.status == 200)
          #expect(response.text == "GET \(path)")
          #expect(response.field("Connection") == nil)
          #expect(response.field("Date")?.hasSuffix(" GMT") == true)
        }
      }
    }
  }

  @Test func `a handler gets the parts of the request`() async throws {
    let handler: @Sendable (HTTPServerRequest) async throws -> HTTPServerResponse = { request in
      let fields = request.headerFields.map { "\($0.name.rawName)=\($0.value)" }.joined(separator: "|")
      let text = [
        request.method.rawValue, request.path, request.query ?? "-", request.authority, fields,
        String(request.peer.prefix(10)), String(request.id.count),
      ].joined(separator: "\n")
      return HTTPServerResponse(status: .ok, body: .bytes(Array(text.utf8)))
    }
    try await withServer(handler: handler) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send(
          "PROPFIND /a%20b?c=d HTTP/1.1\r\nHost: h:1\r\nAccept:  x , y\t\r\nX-Empty: \r\nConnection: keep-alive\r\n\r\n"
        )
        #expect(
          try client.receiveResponse().text
            == "PROPFIND\n/a%20b\nc=d\nh:1\nAccept=x , y|X-Empty=\n127.0.0.1:\n12")
        try client.send("OPTIONS http://other:9 HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try client.receiveResponse().text.hasPrefix("OPTIONS\n*\n-\nother:9\n"))
      }
    }
  }

  @Test func `pipelined requests get responses in order`() async throws {
    try await withServer(handler: echo) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        let requests = (0..<200).map { index in
          index % 2 == 0
            ? "GET /\(index) HTTP/1.1\r\nHost: a\r\n\r\n"
            : "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n\(100 + index)"
        }
        try client.send(requests.joined())
        for index in 0..<200 {
          #expect(try client.receiveResponse().text == (index % 2 == 0 ? "GET /\(index)" : "\(100 + index)"))
        }
      }
    }
  }

  @Test func `a request that is received byte by byte gets a response`() async throws {
    try await withServer(handler: echo) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        let request =
          "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x\r\nde\r\n0\r\nT: 1\r\n\r\n"
        for byte in Array(request.utf8) { try client.send([byte]) }
        #expect(try client.receiveResponse().text == "abcde")
        try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.receiveResponse().text == "GET /")
      }
    }
  }

  @Test func `a stream is sent in chunks, and to an HTTP 1.0 client until the end`() async throws {
    let handler: @Sendable (HTTPServerRequest) async throws -> HTTPServerResponse = { _ in
      let counter = Counter()
      return HTTPServerResponse(
        status: .ok,
        body: .stream {
          counter.add()
          return counter.value > 5 ? nil : [UInt8](repeating: 0x30 + UInt8(counter.value), count: 50_000)
        })
    }
    let expected = (1...5).flatMap { [UInt8](repeating: 0x30 + UInt8($0), count: 50_000) }
    try await withServer(handler: handler) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        for _ in 0..<2 {
          try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
          let response = try client.receiveResponse()
          #expect(response.field("Transfer-Encoding") == "chunked")
          #expect(response.body == expected)
        }
        try client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        #expect(try client.receiveResponse(toHEAD: true).status == 200)
        let old = try client.receiveResponse()
        #expect(old.field("Transfer-Encoding") == nil)
        #expect(old.field("Connection") == "close")
        #expect(old.body == expected)
      }
    }
  }

  @Test func `a stream that fails closes the connection without the last chunk`() async throws {
    let handler: @Sendable (HTTPServerRequest) async throws -> HTTPServerResponse = { _ in
      let counter = Counter()
      return HTTPServerResponse(
        status: .ok,
        body: .stream {
          counter.add()
          if counter.value > 1 { throw CancellationError() }
          return [0x61]
        })
    }
    try await withServer(handler: handler) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        let all = String(decoding: try client.receiveAll(), as: UTF8.self)
        #expect(all.hasSuffix("\r\n\r\n1\r\na\r\n"))
      }
    }
  }

  @Test(arguments: [4, 6, 7])
  func `a stream of known length has that length, and one of another length breaks the connection`(
    length: Int64
  ) async throws {
    let handler: @Sendable (HTTPServerRequest) async throws -> HTTPServerResponse = { _ in
      let counter = Counter()
      return try await HTTPServerResponse(
        status: .ok,
        body: .stream(length: length) {
          counter.add()
          return counter.value > 3 ? nil : [0x61, 0x62]
        }
      ).withFirstPiece()
    }
    try await withServer(handler: handler) { _, port in
      try await RawHTTPClient.run {
        for version in ["1.1", "1.0"] {
          let client = try RawHTTPClient(port: port)
          try client.send("GET / HTTP/\(version)\r\nHost: a\r\nConnection: keep-alive\r\n\r\n")
          if length == 6 {
            let head = try RawHTTPClient(port: port)
            try head.send("HEAD / HTTP/\(version)\r\nHost: a\r\n\r\n")
            #expect(try head.receiveResponse(toHEAD: true).field("Content-Length") == "6")
            for _ in 0..<2 {
              let response = try client.receiveResponse()
              #expect(response.field("Content-Length") == "6")
              #expect(response.text == "ababab")
              try client.send("GET / HTTP/\(version)\r\nHost: a\r\n\r\n")
            }
          } else {
            let all = String(decoding: try client.receiveAll(), as: UTF8.self)
            #expect(all.contains("\r\nContent-Length: \(length)\r\n"))
            #expect(all.hasSuffix("\r\n\r\n" + String(repeating: "ab", count: min(Int(length) / 2, 3))))
          }
        }
      }
    }
  }

  @Test func `an error of the first piece is answered, if it is produced before the response`() async throws {
    try await withServer(handler: { request in
      let response = HTTPServerResponse(
        status: .ok,
        body: .stream { if request.path == "/" { return nil } else { throw CancellationError() } })
      return try await response.withFirstPiece()
    }) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.receiveResponse().status == 500)
        #expect(try client.receiveResponse().body == [])
      }
    }
  }

  @Test func `a rejected stream is not sent in another response`() async throws {
    let pieces = Counter()
    try await withServer(handler: { request in
      if request.path == "/" { return try await echo(request) }
      var fields = HTTPFields()
      // The response is rejected because a field has an escape character, which a lenient field permits.
      fields.append(HTTPField(name: .server, lenientValue: request.path == "/bad" ? [0x1B] : [0x61]))
      return HTTPServerResponse(
        status: request.path == "/204" ? .noContent : .ok, headerFields: fields,
        body: .stream {
          pieces.add()
          await Task.yield()
          return pieces.value > 1000 ? nil : Array("stray".utf8)
        })
    }) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        try client.send("HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n" + get)
        #expect(try client.receiveResponse(toHEAD: true).status == 200)
        #expect(try client.receiveResponse().text == "GET /")
        try client.send("GET /204 HTTP/1.1\r\nHost: a\r\n\r\n" + get)
        #expect(try client.receiveResponse().status == 204)
        #expect(try client.receiveResponse().text == "GET /")
        try client.send("GET /bad HTTP/1.1\r\nHost: a\r\n\r\n" + get)
        #expect(try client.receiveResponse().status == 500)
        #expect(try client.receiveResponse().text == "GET /")
      }
      #expect(pieces.value == 0)
    }
  }

  @Test func `a response to HEAD has the fields of GET and no body`() async throws {
    try await withServer(handler: { _ in HTTPServerResponse(status: .ok, body: .bytes(Array("hello".utf8))) })
    {
      _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.receiveResponse(toHEAD: true).field("Content-Length") == "5")
        #expect(try client.receiveResponse().text == "hello")
      }
    }
  }

  @Test func `statuses without a body have none, and the connection is reused`() async throws {
    try await withServer(handler: { request in
      HTTPServerResponse(status: request.path == "/204" ? .noContent : .notModified, body: .bytes([1, 2, 3]))
    }) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send("GET /204 HTTP/1.1\r\nHost: a\r\n\r\nGET /304 HTTP/1.1\r\nHost: a\r\n\r\n")
        for status in [204, 304] {
          let response = try client.receiveResponse()
          #expect(response.status == status)
          #expect(response.field("Content-Length") == nil)
        }
      }
    }
  }

  @Test func `a client can request that the connection closes`() async throws {
    try await withServer(handler: echo) { _, port in
      try await RawHTTPClient.run {
        for request in ["GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"] {
          let client = try RawHTTPClient(port: port)
          try client.send(request)
          #expect(try client.receiveResponse().field("Connection") == "close")
          #expect(client.isClosedByPeer())
        }
        let old = try RawHTTPClient(port: port)
        for _ in 0..<2 {
          try old.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
          #expect(try old.receiveResponse().field("Connection") == "keep-alive")
        }
      }
    }
  }

  @Test func `a client that has ended its side still gets a response`() async throws {
    try await withServer(handler: { request in
      // The client ends its side while the handler runs.
      await Task.yield()
      return try await echo(request)
    }) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n")
        client.endSending()
        #expect(try client.receiveResponse().text == "GET /1")
        #expect(try client.receiveResponse().text == "GET /2")
        #expect(client.isClosedByPeer())
      }
    }
  }

  @Test func `files and bytes are sent in order and unchanged`() async throws {
    let folder = try TemporaryFolder()
    let file = try File(folder.path + "/large", .create(mode: 0o600))
    let contents = repeatedPattern(20 << 20)
    try file.write(contents, at: 0)
    let expected =
      Array("<".utf8) + contents[1000..<19_000_000] + Array("|".utf8) + contents[5..<10] + Array(">".utf8)
    try await withServer(handler: { _ in
      HTTPServerResponse(
        status: .ok,
        body: .parts([
          .bytes(Array("<".utf8)), .file(file, offset: 1000, count: 18_999_000), .bytes(Array("|".utf8)),
          .file(file, offset: 5, count: 5), .file(file, offset: 0, count: 0), .bytes(Array(">".utf8)),
        ]))
    }) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        for _ in 0..<2 {
          try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
          let response = try client.receiveResponse()
          #expect(response.field("Content-Length") == "\(expected.count)")
          #expect(response.body == expected)
        }
      }
    }
  }

  @Test func `a large body in memory is sent completely`() async throws {
    let body = repeatedPattern(5_000_000)
    try await withServer(handler: { _ in HTTPServerResponse(status: .ok, body: .bytes(body)) }) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.receiveResponse().body == body)
      }
    }
  }

  @Test func `a file that is shorter than declared closes the connection`() async throws {
    let folder = try TemporaryFolder()
    let file = try File(folder.path + "/short", .create(mode: 0o600))
    try file.write(Array("short".utf8), at: 0)
    try await withServer(handler: { _ in
      HTTPServerResponse(status: .ok, body: .parts([.file(file, offset: 0, count: 10)]))
    }) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        let all = String(decoding: try client.receiveAll(), as: UTF8.self)
        #expect(all.contains("Content-Length: 10\r\n"))
        #expect(all.hasSuffix("\r\n\r\nshort"))
      }
    }
  }

  @Test func `two hundred connections are served concurrently`() async throws {
    let entered = Counter()
    let gate = Signal()
    try await withServer(
      configure: { $0.eventLoops = 2 },
      handler: { request in
        entered.add()
        if entered.value == 200 { gate.fire() }
        await gate.wait()
        return try await echo(request)
      }
    ) { _, port in
      try await RawHTTPClient.run {
        let clients = try (0..<200).map { _ in try RawHTTPClient(port: port) }
        for (index, client) in clients.enumerated() {
          try client.send("GET /\(index) HTTP/1.1\r\nHost: a\r\n\r\n")
        }
        for (index, client) in clients.enumerated() {
          #expect(try client.receiveResponse().text == "GET /\(index)")
        }
      }
    }
  }
}
