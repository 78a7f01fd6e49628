import HTTPEngine
import HTTPSemantics
import HTTPTypes
import TestSupport
import Testing

/// Requirements of RFC 9110 and RFC 9112 for servers, tested over a socket.
@Suite(.alsoOverTLS) struct HTTPServerConformanceTests {
  @Test func `HEAD gets the response to GET without the body`() async throws {
    try await withRoutes { exchanges in
      for path in ["/", "/file", "/fields", "/target", "/missing", "/%2e"] {
        let get = try exchanges.answer("GET", path)
        let head = try exchanges.answer("HEAD", path)
        #expect(head.status == get.status, "\(path)")
        for name in [
          "Content-Type", "Content-Length", "ETag", "Last-Modified", "Accept-Ranges", "Cache-Control",
        ] {
          #expect(head.field(name) == get.field(name), "\(path) \(name)")
        }
        #expect(
          try exchanges.everything(after: "HEAD \(path) HTTP/1.1\r\nHost: a\r\n\r\n").hasSuffix("\r\n\r\n"))
      }
      let stream = try exchanges.everything(after: "HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(stream.hasPrefix("HTTP/1.1 200 OK\r\n") && stream.hasSuffix("\r\n\r\n"))
    }
  }

  @Test func `methods that a resource does not support differ from unknown ones`()
    async throws
  {
    try await withRoutes { exchanges in
      for method in ["POST", "PUT", "DELETE", "PATCH", "TRACE"] {
        let answer = try exchanges.answer(method, "/file")
        #expect(answer.status == 405, "\(method)")
        #expect(answer.field("Allow") == "GET, HEAD, OPTIONS", "\(method)")
      }
      for method in ["ABC", "get", "Get", "PROPFIND", "GETS", "G", "M-SEARCH", "!#$%&'*+-.^_`|~"] {
        #expect(try exchanges.answer(method, "/file").status == 501, "\(method)")
      }
      let options = try exchanges.answer("OPTIONS", "/")
      #expect(options.status == 204)
      #expect(options.field("Allow") == "GET, HEAD, OPTIONS, POST")
      #expect(try exchanges.answer("OPTIONS", "*").field("Allow") == "GET, HEAD, OPTIONS, POST, PUT")
      #expect(try exchanges.answer("OPTIONS", "http://a").field("Allow") == "GET, HEAD, OPTIONS, POST, PUT")
      #expect(try exchanges.answer("OPTIONS", "http://a/file").field("Allow") == "GET, HEAD, OPTIONS")
      #expect(try exchanges.answer("OPTIONS", "/missing").status == 404)
    }
  }

  @Test func `every response has a date, and a length if it has a body`() async throws {
    try await withRoutes { exchanges in
      let requests = [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET /missing HTTP/1.1\r\nHost: a\r\n\r\n",
        "ABC / HTTP/1.1\r\nHost: a\r\n\r\n", "PUT / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
        "GET /file HTTP/1.1\r\nHost: a\r\nRange: bytes=2-\r\n\r\n",
        "GET /file HTTP/1.1\r\nHost: a\r\nRange: bytes=99-\r\n\r\n",
        "GET /file HTTP/1.1\r\nHost: a\r\nIf-Match: \"x\"\r\n\r\n", "GET / HTTP/2.0\r\n\r\n",
      ]
      for request in requests {
        let answer = try exchanges.answer(to: request)
        #expect(HTTPDate(try #require(answer.field("Date"))) != nil)
        #expect(answer.field("Content-Length") == "\(answer.body.count)", "\(request)")
      }
      for answer in [
        try exchanges.answer("OPTIONS", "/"), try exchanges.answer("GET", "/file", ["If-None-Match: *"]),
      ] {
        #expect(HTTPDate(try #require(answer.field("Date"))) != nil)
        #expect(answer.field("Content-Length") == nil && answer.field("Transfer-Encoding") == nil)
      }
    }
  }

  @Test func `the target can be a path or a URI, and a URI's authority takes precedence`() async throws {
    try await withRoutes { (exchanges) throws in
      for (target, expected) in [
        ("/target", "a /target -"), ("/target?", "a /target "),
        ("/target?x=1&y=[2]|{3}", "a /target x=1&y=[2]|{3}"),
        ("http://b/target", "b /target -"), ("http://b:81/target?q", "b:81 /target q"),
        ("HTTP://B/target", "B /target -"), ("https://b./target", "b. /target -"),
        ("http://[::1]:8080/target", "[::1]:8080 /target -"), ("http://b:/target", "b: /target -"),
        ("/%74arget", "a /%74arget -"),
      ] {
        #expect(try exchanges.answer("GET", target).text == expected, "\(target)")
      }
      #expect(try exchanges.answer("GET", "http://b").text == "hello")
      #expect(try exchanges.answer("GET", "http://b?q").text == "hello")
      for target in [
        "//target", "/target/", "/Target", "/target;x", "/%2ftarget", "/target%3fx", "/target%23",
      ] {
        #expect(try exchanges.answer("GET", target).status == 404, "\(target)")
      }
      for target in ["/./target", "/x/../target", "/%2e%2e/target", "/target%00", "/target%0d%0aX:y", "/%ff"]
      {
        #expect(try exchanges.answer("GET", target).status == 400, "\(target)")
      }
    }
  }

  @Test func `valid hosts of every form are accepted`() async throws {
    try await withRoutes { exchanges in
      for host in [
        "a", "A", "localhost:8080", "a:", "a.:88", "www.abcd-ef.g02.xyz.", "under_score", "123.40.56.78:987",
        "[::1]", "[::1]:8080", "[abcd::ef98:0:7654:321]:80", "[::ffff:12.30.67.89]", "[1:2:3:4:5:6:7:8]",
        "[::]:",
        "[v1.a:b]", "xn--bcher-kva.example", "a:65535", "a:0", "1.1", "~a",
      ] {
        let answer = try exchanges.answer(to: "GET /target HTTP/1.1\r\nhOST:\t\(host) \r\n\r\n")
        #expect(answer.text == "\(host) /target -")
      }
    }
  }

  @Test func `an HTTP 1.0 client gets no interim response, no coding and a closed connection`() async throws {
    try await withRoutes { exchanges in
      let post = "POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello"
      for request in [post, post.replacing("100-continue", with: "a miracle"), "GET / HTTP/1.0\r\n\r\n"] {
        let client = try RawHTTPClient(port: exchanges.port)
        try client.send(request)
        let all = String(decoding: try client.receiveAll(), as: UTF8.self)
        #expect(all.hasPrefix("HTTP/1.1 200 OK\r\n") && all.hasSuffix("\r\n\r\nhello"))
        #expect(all.contains("\r\nConnection: close\r\n"))
      }
      let stream = try exchanges.everything(after: "GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
      #expect(stream.hasSuffix("\r\n\r\nabcabcabc") && stream.contains("\r\nConnection: close\r\n"))
      #expect(
        try exchanges.answer(to: "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").field("Connection")
          == "keep-alive")
      // A version with a higher minor number is supported (RFC 9110 §6.2).
      #expect(try exchanges.answer(to: "GET / HTTP/1.2\r\nHost: a\r\n\r\n").field("Connection") == nil)
    }
  }

  @Test func `options of the connection are parsed as a list, in any case`() async throws {
    try await withRoutes { (exchanges) throws in
      for value in ["close", "CLOSE", "keep-alive, close", "x,\tclose ,y", ",close", "Upgrade, close"] {
        #expect(
          try exchanges.answer("GET", "/", ["Connection: \(value)"]).field("Connection") == "close",
          "\(value)")
      }
      for value in ["keep-alive", "closed", "\"close\"", "x-close", "", "Host", "Upgrade, HTTP2-Settings"] {
        #expect(
          try exchanges.answer("GET", "/", ["Connection: \(value)"]).field("Connection") == nil, "\(value)")
      }
    }
  }

  @Test func `an upgrade is ignored`() async throws {
    try await withRoutes { exchanges in
      let answer = try exchanges.answer(
        "GET", "/",
        [
          "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c, websocket",
          "HTTP2-Settings: AAMAAABk",
        ])
      #expect(answer.status == 200)
      #expect(answer.field("Upgrade") == nil)
      let all = try exchanges.everything(
        after: "POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\nExpect: 100-continue\r\n"
          + "Content-Length: 5\r\n\r\nhello")
      #expect(all.hasPrefix("HTTP/1.1 200 OK\r\n"))
    }
  }

  @Test func `trailers are never added to the head, whatever their names are`() async throws {
    try await withRoutes { exchanges in
      let client = try RawHTTPClient(port: exchanges.port)
      let request =
        "PUT /fields HTTP/1.1\r\nHost: a\r\nX-Head: 1\r\nTE: trailers\r\nTrailer: X-Tail\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "5;a=b;c;d=\"e;\\\"f\"\r\nhello\r\n000;last\r\nX-Tail: 1\r\nHost: evil\r\nContent-Length: 99\r\n"
        + "Transfer-Encoding: gzip\r\nAuthorization: Bearer x\r\nX-Head: 2\r\n\r\n"
      for _ in 0..<2 {
        try client.send(request)
        #expect(try client.receiveResponse().text == "trailer x-head")
      }
    }
  }

  @Test func `an unread body does not affect the next request`() async throws {
    try await withRoutes { exchanges in
      let client = try RawHTTPClient(port: exchanges.port)
      for body in [
        "5\r\nhello\r\n0\r\n\r\n", "0\r\nX: y\r\n\r\n",
        "5120\r\n" + String(repeating: "x", count: 0x5120) + "\r\n0\r\n\r\n",
      ] {
        try client.send("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
        #expect(try client.receiveResponse().text == "hello")
        try client.send("DELETE / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
        #expect(try client.receiveResponse().status == 405)
        // The body is sent in pieces, and its end follows after the response.
        try client.send("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + body.prefix(4))
        #expect(try client.receiveResponse().text == "hello")
        try client.send(String(body.dropFirst(4)))
      }
      try client.send("GET /target HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try client.receiveResponse().text == "a /target -")
      let large = "20000\r\n" + String(repeating: "x", count: 0x20000) + "\r\n0\r\n\r\n"
      try client.send("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + large)
      #expect(try client.receiveResponse().text == "hello")
      #expect(client.isClosedByPeer())
    }
  }

  @Test func `one empty line before a request is ignored`() async throws {
    try await withRoutes { exchanges in
      let client = try RawHTTPClient(port: exchanges.port)
      for _ in 0..<3 {
        try client.send("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.receiveResponse().text == "hello")
      }
    }
  }

  @Test func `unusual but valid fields reach the handler unchanged`() async throws {
    try await withRoutes { exchanges in
      let answer = try exchanges.answer(
        "GET", "/fields",
        [
          "Empty:", "blank: \t ", "TABBED:\ta\tb\t", "!#$%&'*+-.^_`|~: c", "twice: 1",
          "Twice: 2",
          "Content_Length: 7", "colons: a:b::c",
        ])
      #expect(
        answer.text
          == "!#$%&'*+-.^_`|~=c\nblank=\ncolons=a:b::c\ncontent_length=7\nempty=\ntabbed=a\tb\ntwice=1\ntwice=2\n"
      )
    }
  }
}
