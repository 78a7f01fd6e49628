import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SystemIO
import TestSupport
import Testing

@Suite(.alsoOverTLS, .timeLimit(.minutes(5 * Sanitizer.slowness))) struct InterimAnswerTests {
  private static let progress = HTTPResponse.Status(code: 104, reasonPhrase: "Upload Resumption Supported")

  @Test func `an interim response precedes the final one and has no framing fields`()
    async throws
  {
    let sent = Lock<[Bool]>([])
    try await withServer(handler: { request in
      let first = await request.sendInterim(
        Self.progress, [.location: "/uploads/a", .contentLength: "7", .connection: "close"])
      let bytes = try await request.body.collect(upTo: 100)
      let second = await request.sendInterim(Self.progress)
      sent.withLock { $0 += [first, second] }
      return HTTPServerResponse(status: .ok, body: .bytes(bytes))
    }) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        for _ in 0..<2 {
          try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n")
          let interim = try client.receiveResponse()
          #expect(interim.head == "HTTP/1.1 104 Upload Resumption Supported\r\nLocation: /uploads/a")
          try client.send("hello")
          #expect(try client.receiveResponse().head == "HTTP/1.1 104 Upload Resumption Supported")
          let final = try client.receiveResponse()
          #expect(final.status == 200)
          #expect(final.text == "hello")
        }
      }
    }
    #expect(sent.withLock { $0 } == [true, true, true, true])
  }

  @Test func `it does not replace 100 (Continue) for a requested body`() async throws {
    try await withServer(handler: { request in
      await request.sendInterim(Self.progress)
      return HTTPServerResponse(status: .ok, body: .bytes(try await request.body.collect(upTo: 100)))
    }) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        #expect(try client.receiveResponse().status == 104)
        #expect(try client.receiveResponse().status == 100)
        try client.send("hello")
        #expect(try client.receiveResponse().text == "hello")
      }
    }
  }

  @Test(arguments: [100, 101, 99, 200, 204, 404]) func `other statuses are not sent as interim responses`(
    code: Int
  ) async throws {
    try await withServer(handler: { request in
      let isSent = await request.sendInterim(HTTPResponse.Status(code: code))
      return HTTPServerResponse(status: .ok, body: .bytes(Array("\(isSent)".utf8)))
    }) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.receiveResponse().text == "false")
      }
    }
  }

  @Test func `an HTTP 1.0 client gets no interim response`() async throws {
    try await withServer(handler: { request in
      let isSent = await request.sendInterim(Self.progress)
      return HTTPServerResponse(status: .ok, body: .bytes(Array("\(isSent)".utf8)))
    }) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send("GET / HTTP/1.0\r\n\r\n")
        let response = try client.receiveResponse()
        #expect(response.status == 200)
        #expect(response.text == "false")
      }
    }
  }

  @Test func `none is sent after the final response has started`() async throws {
    let verdicts = Lock<[Bool]>([])
    let kept = Lock<HTTPServerRequest?>(nil)
    try await withServer(handler: { request in
      kept.withLock { $0 = request }
      let rounds = Counter()
      return HTTPServerResponse(
        status: .ok,
        body: .stream {
          rounds.add()
          if rounds.value > 2 { return nil }
          let isSent = await request.sendInterim(Self.progress)
          verdicts.withLock { $0.append(isSent) }
          return Array("x".utf8)
        })
    }) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.receiveResponse().text == "xx")
      }
      let request = try #require(kept.withLock { $0.take() })
      // The next request may be running already.
      #expect(await request.sendInterim(Self.progress) == false)
    }
    #expect(verdicts.withLock { $0 } == [false, false])
  }

  @Test func `the final response waits until the client has received the interim ones`() async throws {
    let text = String(repeating: "x", count: 8000)
    let count = 2000
    for isStream in [false, true] {
      try await withServer(handler: { request in
        // The tasks do not wait for each other, so the responses queue up.
        for _ in 0..<count { Task { await request.sendInterim(Self.progress, [.link: text]) } }
        await request.sendInterim(Self.progress, [.link: "first or later"])
        let rounds = Counter()
        return HTTPServerResponse(
          status: .ok,
          body: isStream
            ? .stream {
              rounds.add()
              return rounds.value > 1 ? nil : Array("done".utf8)
            } : .bytes(Array("done".utf8)))
      }) { _, port in
        try await RawHTTPClient.run {
          let client = try RawHTTPClient(port: port, receiveBuffer: 4096)
          for _ in 0..<2 {
            try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            var response = try client.receiveResponse()
            while response.status == 104 { response = try client.receiveResponse() }
            #expect(response.status == 200)
            #expect(response.text == "done")
          }
        }
      }
    }
  }

  @Test(arguments: [false, true])
  func `the bytes that a client sent before it disconnected are read`(isReset: Bool)
    async throws
  {
    let (began, left, ended) = (Signal(), Signal(), Signal())
    let count = Lock(0)
    try await withServer(handler: { request in
      began.fire()
      await left.wait()
      defer { ended.fire() }
      // A response accepted by the system does not necessarily reach the client.
      while await request.sendInterim(Self.progress) {}
      for try await piece in request.body { count.withLock { $0 += piece.count } }
      return HTTPServerResponse(status: .ok)
    }) { _, port in
      var client: RawHTTPClient? = try RawHTTPClient(port: port)
      try client?.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\nwith the head")
      await began.wait()
      try client?.send([UInt8](repeating: 0x61, count: 30_000))
      if isReset { client?.reset() }
      client = nil
      left.fire()
      await ended.wait()
    }
    #expect(count.withLock { $0 } == 30_013)
  }

  @Test func `a client that does not receive interim responses is disconnected`() async throws {
    let ended = Signal()
    try await withServer(
      configure: { $0.limits.writeStallTime = .milliseconds(100) },
      handler: { request in
        let text = String(repeating: "x", count: 60_000)
        while await request.sendInterim(Self.progress, [.link: text]) {}
        ended.fire()
        return HTTPServerResponse(status: .ok)
      }
    ) { _, port in
      let client = try RawHTTPClient(port: port, receiveBuffer: 4096)
      try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      await ended.wait()
      #expect(try await RawHTTPClient.run { client.isClosedByPeer() })
    }
  }

  @Test func `without a socket a closure receives them`() async throws {
    let seen = Lock<[String]>([])
    let request = HTTPServerRequest(method: .post, path: "/") { status, fields in
      seen.withLock { $0.append("\(status.code) \(fields[.location] ?? "")") }
      return true
    }
    #expect(await request.sendInterim(Self.progress, [.location: "/a"]))
    #expect(seen.withLock { $0 } == ["104 /a"])
    #expect(await HTTPServerRequest(method: .get, path: "/").sendInterim(Self.progress) == false)
  }
}
