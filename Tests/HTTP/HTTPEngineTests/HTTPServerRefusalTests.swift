import HTTPEngine
import HTTPTypes
import TestSupport
import Testing

/// Requests that two parsers could interpret differently get 400 and close the connection, so that the bytes after them
/// are never parsed as a request (RFC 9112 §11.2). Unsupported features get other statuses.
@Suite(.alsoOverTLS) struct HTTPServerRefusalTests {
  /// Requests of one kind. Each scalar below U+0100 stands for the byte with its value.
  struct Kind: CustomTestStringConvertible {
    let testDescription: String
    let requests: [String]

    init(_ name: String, _ requests: [String]) {
      testDescription = name
      self.requests = requests
    }

    /// `POST` requests with these field lines after `Host`, and a body that many parsers would accept.
    static func fields(_ name: String, _ lines: [String]) -> Kind {
      Kind(name, lines.map { "POST / HTTP/1.1\r\nHost: a\r\n\($0)\r\n\r\n5\r\nhello\r\n0\r\n\r\n" })
    }

    /// `GET` requests with these targets.
    static func targets(_ name: String, _ targets: [String]) -> Kind {
      Kind(name, targets.map { "GET \($0) HTTP/1.1\r\nHost: a\r\n\r\n" })
    }

    /// Requests with these bodies in chunked coding, to a handler that reads the body and to one that does not.
    static func chunked(_ name: String, _ bodies: [String]) -> Kind {
      Kind(
        name,
        bodies.flatMap { body in
          ["POST /", "POST /unread", "GET /unread"].map {
            "\($0) HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(body)"
          }
        })
    }
  }

  /// Sent after every request, to check whether it is parsed as a request.
  private static let next = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"

  static let malformed: [Kind] = [
    .fields(
      "a length and a coding",
      [
        "Content-Length: 5\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Content-Length: 0\r\nTransfer-Encoding: chunked", "content-LENGTH: 5\r\ntransfer-ENCODING: chunked",
        "Content-Length: 5\r\nTransfer-Encoding: gzip, chunked", "Content-Length: 5\r\nTransfer-Encoding: x",
        "Content-Length: 5\r\nTransfer-Encoding:",
      ]),
    .fields(
      "two lengths",
      [
        "Content-Length: 5\r\nContent-Length: 6", "Content-Length: 5\r\nContent-Length: 5",
        "Content-Length: 5\r\nX: y\r\ncontent-length: 0", "Content-Length: 5, 5", "Content-Length: 5,6",
        "Content-Length: 5,", "Content-Length: ,5", "Content-Length: 5\r\nContent-Length:",
      ]),
    .fields(
      "a length that is none",
      [
        "Content-Length: +5", "Content-Length: -5", "Content-Length: -0", "Content-Length: 5 0",
        "Content-Length: 0x5", "Content-Length: 5h", "Content-Length: 1e1", "Content-Length: 5.0",
        "Content-Length: 1_0", "Content-Length:", "Content-Length:  ", "Content-Length: \"5\"",
        "Content-Length: five", "Content-Length: 5;", "Content-Length: 9223372036854775808",
        "Content-Length: 18446744073709551621", "Content-Length: 99999999999999999999999999",
        "Content-Length: -123456789123456789123456789", "Content-Length: \u{B}5", "Content-Length: 5\u{C}",
        "Content-Length: \u{A0}5", "Content-Length: \u{85}5", "Content-Length: \u{B2}", "Content-Length: 5\0",
      ]),
    .fields(
      "a coding that is hidden, doubled or not the last",
      [
        "Transfer-Encoding: chunked, identity", "Transfer-Encoding: chunked, gzip",
        "Transfer-Encoding: identity", "Transfer-Encoding: gzip", "Transfer-Encoding: nonsense",
        "Transfer-Encoding: chunked, chunked", "Transfer-Encoding: chunkedchunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: x", "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunkedx", "Transfer-Encoding: chunk", "Transfer-Encoding: \"chunked\"",
        "Transfer-Encoding: 'chunked'", "Transfer-Encoding: chunked;", "Transfer-Encoding: chunked;q=1",
        "Transfer-Encoding: chunked,", "Transfer-Encoding: ,chunked", "Transfer-Encoding: , chunked",
        "Transfer-Encoding: x chunked", "Transfer-Encoding: chunked x", "Transfer-Encoding:",
        "Transfer-Encoding: ", "Transfer-Encoding: \u{B}chunked", "Transfer-Encoding: \u{C}chunked",
        "Transfer-Encoding: chunked\u{B}", "Transfer-Encoding: \0chunked", "Transfer-Encoding: chunked\0",
        "Transfer-Encoding: \u{85}chunked", "Transfer-Encoding: \u{A0}chunked",
        "Transfer-Encoding: chunked\u{FF}", "Transfer-Encoding: c\u{68}unked\u{7F}",
        "Transfer-Encoding: \rchunked", "Transfer-Encoding: chunked\r", "Transfer-Encoding:\n chunked",
        "Transfer-Encoding:\r\n chunked", "Transfer-Encoding: chunked\r\n ",
        "X: y\nTransfer-Encoding: chunked",
        "X: y\rTransfer-Encoding: chunked", "Transfer-Encoding : chunked", "Transfer-Encoding\t: chunked",
        " Transfer-Encoding: chunked", "\tTransfer-Encoding: chunked", "Transfer-Encoding\u{B}: chunked",
        "Transfer-Encoding\0: chunked", "Transfer-Encoding\u{A0}: chunked", "Transfer-Encoding\r: chunked",
        "Transfer Encoding: chunked", "Transfer-Encoding", ": chunked", "\u{0}Transfer-Encoding: chunked",
        "\rTransfer-Encoding: chunked",
      ]),
    .chunked(
      "a chunk's size that is none",
      [
        "0x5\r\nhello\r\n0\r\n\r\n", "+5\r\nhello\r\n0\r\n\r\n", "-5\r\nhello\r\n0\r\n\r\n",
        " 5\r\nhello\r\n0\r\n\r\n", "\t5\r\nhello\r\n0\r\n\r\n", "5 \r\nhello\r\n0\r\n\r\n",
        "5\t\r\nhello\r\n0\r\n\r\n", "0_5\r\nhello\r\n0\r\n\r\n", "5h\r\nhello\r\n0\r\n\r\n",
        "5.\r\nhello\r\n0\r\n\r\n", "5,5\r\nhello\r\n0\r\n\r\n", "\"5\"\r\nhello\r\n0\r\n\r\n",
        "\r\nhello\r\n0\r\n\r\n", ";a=b\r\nhello\r\n0\r\n\r\n", "Z\r\nhello\r\n0\r\n\r\n",
        "5\0\r\nhello\r\n0\r\n\r\n", "\u{FF}5\r\nhello\r\n0\r\n\r\n",
        "8000000000000000\r\nhello\r\n0\r\n\r\n",
        "FFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n", "10000000000000005\r\nhello\r\n0\r\n\r\n",
        "00000000000000005\r\nhello\r\n0\r\n\r\n", "5\r\nhello\r\n-0\r\n\r\n", "5\r\nhello\r\n0 \r\n\r\n",
        "5\r\nhello\r\n0x0\r\n\r\n",
      ]),
    .chunked(
      "a line of the coding that ends elsewhere",
      [
        "5\nhello\r\n0\r\n\r\n", "5\rhello\r\n0\r\n\r\n", "5\r\rhello\r\n0\r\n\r\n", "5\r\nhello\n0\r\n\r\n",
        "5\r\nhello\r0\r\n\r\n", "5\r\nhello0\r\n\r\n", "5\r\nhelloXX0\r\n\r\n", "5\r\nhello\n\r0\r\n\r\n",
        "4\r\nhello\r\n0\r\n\r\n", "6\r\nhello\r\n0\r\n\r\n", "5\r\nhello\r\n0\n\r\n",
        "5\r\nhello\r\n0\r\n\n",
        "5\r\nhello\r\n0\r\n\r\r\n", "0\n\n", "0\r\r\n\r\n", "\r\n5\r\nhello\r\n0\r\n\r\n",
      ]),
    .chunked(
      "an extension of a chunk that hides something or breaks the grammar",
      [
        "5;\r\nhello\r\n0\r\n\r\n", "5;;a\r\nhello\r\n0\r\n\r\n", "5;=b\r\nhello\r\n0\r\n\r\n",
        "5;a=\r\nhello\r\n0\r\n\r\n", "5;a=b;\r\nhello\r\n0\r\n\r\n", "5;a=b=c\r\nhello\r\n0\r\n\r\n",
        "5;a b\r\nhello\r\n0\r\n\r\n", "5;a=b c\r\nhello\r\n0\r\n\r\n", "5;a=\"b\r\nhello\r\n0\r\n\r\n",
        "5;a=\"b\\\r\nhello\r\n0\r\n\r\n", "5;a=\"b\"c\r\nhello\r\n0\r\n\r\n",
        "5;a=b\"c\"\r\nhello\r\n0\r\n\r\n",
        "5;\"a\"\r\nhello\r\n0\r\n\r\n", "5;a\nb\r\nhello\r\n0\r\n\r\n", "5;a\n\r\nhello\r\n0\r\n\r\n",
        "5;a\rb\r\nhello\r\n0\r\n\r\n", "5;a=\"\n\"\r\nhello\r\n0\r\n\r\n",
        "5;a=\"\r\n\"\r\nhello\r\n0\r\n\r\n",
        "5;a\0\r\nhello\r\n0\r\n\r\n", "5 ;a\r\nhello\r\n0\r\n\r\n", "5;a \r\nhello\r\n0\r\n\r\n",
        "5;\u{FF}\r\nhello\r\n0\r\n\r\n", "5,a\r\nhello\r\n0\r\n\r\n", "5 a\r\nhello\r\n0\r\n\r\n",
        "5\r\nhello\r\n0;\r\n\r\n", "5\r\nhello\r\n0;a\n\r\n",
        "5;a=" + String(repeating: "b", count: 16 * 1024) + "\r\nhello\r\n0\r\n\r\n",
      ]),
    .chunked(
      "a trailer that is none",
      [
        "0\r\nX\r\n\r\n", "0\r\n: y\r\n\r\n", "0\r\nX : y\r\n\r\n", "0\r\n X: y\r\n\r\n",
        "0\r\nX: y\r\n z\r\n\r\n",
        "0\r\nX: y\n\r\n", "0\r\nX: \0\r\n\r\n", "0\r\nX: y\rZ: a\r\n\r\n", "0\r\nX y: z\r\n\r\n",
        "0\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "0\r\nX: " + String(repeating: "y", count: 16 * 1024) + "\r\n\r\n",
      ]),
    .fields(
      "a line that ends elsewhere, or goes on",
      [
        "X: y\nZ: a", "X: y\n", "X: y\rZ: a", "X:\rTransfer-Encoding: chunked", "X: y\r\r\nZ: a",
        "X: y\r\n z",
        "X: y\r\n\tz", "X:\r\n y", "X\r\n : y", "X: y\u{B}Z: a\u{1}",
      ]),
    .fields(
      "control bytes in a field",
      (0...0x1F).filter { ![0x09, 0x0A, 0x0D].contains($0) }.map {
        "X: a\(Character(Unicode.Scalar(UInt8($0))))b"
      }
        + ["X: a\u{7F}", "X: \0", "X\0: y", "X\u{1B}: y", "X\u{7F}: y"]),
    .fields(
      "a field's name that is none",
      [
        ": y", " X: y", "\tX: y", "X : y", "X\t: y", "X y: z", "X", "X()", "X@: y", "X[]: y", "\"X\": y",
        "X/: y",
        "X,Y: z", "X;: y", "X{}: y", "X\u{FC}: y", "X=y",
      ]),
    Kind(
      "a host that is missing, doubled or none",
      [
        "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nX: y\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\nhOsT: b\r\n\r\n", "GET http://a/ HTTP/1.1\r\n\r\n",
        "GET http://a/ HTTP/1.1\r\nHost: a b\r\n\r\n", "GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.0\r\nHost: a b\r\n\r\n",
      ]
        + [
          "", " ", ".", "..", "a..b", ".a", "a..", "a b", "a,b", "a/b", "a\\b", "a?b", "a#b", "###", "u@a",
          "u:p@a",
          "@a", "a@", "a;b", "a\"", "<a>", "a%", "a%41", "a\u{FC}", ":", ":80", "a:b", "a:+1", "a:-1",
          "a:65536", "a:99999", "a:123456", "a:80:80", "a:8_0", "a.:1.2", "http://a", "//a", "a\tb", "a:8 0",
          "[", "]", "[]",
          "[::1", "::1", "[::1]a", "[::1].", "[::1]..:98", "[::1]:65536", "[::1]:x", "[:::1]", "[::g]",
          "[1:2]",
          "[1:2:3:4:5:6:7:8:9]", "[12345::]", "[::1%eth0]", "[::1%25eth0]", "[1.2.3.4]", "[ab..cd::1]",
          "[::1.2.3]",
          "[::1.2.3.256]", "x[::1]", "[::1][::1]", "[v.a]", "[vg.a]", "[v1.]", "[v1.a/b]", "[v1.a@b]",
        ].map { "GET / HTTP/1.1\r\nHost: \($0)\r\n\r\n" }),
    Kind(
      "a request line that is none",
      [
        "GET /\r\nHost: a\r\n\r\n", "GET / \r\nHost: a\r\n\r\n", "GET\r\nHost: a\r\n\r\n",
        "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /  HTTP/1.1\r\nHost: a\r\n\r\n", "GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /\tHTTP/1.1\r\nHost: a\r\n\r\n",
        "GET\u{B}/ HTTP/1.1\r\nHost: a\r\n\r\n", " GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1 \r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\t\r\nHost: a\r\n\r\n", "GET / HTTP/1.1 x\r\nHost: a\r\n\r\n",
        "GET / / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / http/1.1\r\nHost: a\r\n\r\n", "GET / Http/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.\r\nHost: a\r\n\r\n", "GET / HTTP/.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.10\r\nHost: a\r\n\r\n",
        "GET / HTTP/01.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/+1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP 1.1\r\nHost: a\r\n\r\n", "GET / HTTP\\1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1,1\r\nHost: a\r\n\r\n",
        "GET / HTTP/x.y\r\nHost: a\r\n\r\n", "GET / HTTPS/1.1\r\nHost: a\r\n\r\n",
        "GET / ICE/1.0\r\nHost: a\r\n\r\n",
        "GET / IHTTP/1.0\r\nHost: a\r\n\r\n", "GET HTTP/1.1\r\nHost: a\r\n\r\n",
        "/ HTTP/1.1\r\nHost: a\r\n\r\n",
        "HTTP/1.1 200 OK\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\rHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\r\nHost: a\r\n\r\n", "GET /\r HTTP/1.1\r\nHost: a\r\n\r\n",
        "G\0T / HTTP/1.1\r\nHost: a\r\n\r\n",
        "G@T / HTTP/1.1\r\nHost: a\r\n\r\n", "G\u{C4}T / HTTP/1.1\r\nHost: a\r\n\r\n",
        "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "\r\rGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "\0GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}\u{FC}\u{3}\u{3}",
        "\u{EF}\u{BB}\u{BF}GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\n Host: a\r\n\r\n",
        "GET / HTTP/1.1\r\n \r\nHost: a\r\n\r\n",
      ]),
    .targets(
      "a target that is none",
      [
        "a", "*", "**", "/*\u{7F}", "a/b", "/a b", "/#", "/a#b", "/?a#b", "http://a/#b", "/\u{FC}",
        "/?\u{FC}", "/\u{80}", "/%",
        "/%4", "/%zz", "/a%", "/%%41", "/\\", "/a\\..\\b", "/<a>", "/\"", "/^", "/`", "/{a}", "/|", "/[a]",
        "/\0", "/\u{2}",
        "/\u{7F}", "/?\0", "/?\u{1}", "ftp://a/", "file:///a", "http:/a", "http:a", "http://", "http:///a",
        "http://?a",
        "http://u@a/", "http://a:b/", "http://a:65536/", "http://a\\b/", "http://a b/", "http://[::1/",
        "http://[::g]/",
        "http://a..b/", "http://a%41/", "https://", "javascript:a", "data:,a", "a:80",
      ]),
    Kind(
      "a coding from a version that has none",
      [
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "POST / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      ]),
  ]

  @Test(arguments: malformed) func `a malformed request gets 400 and closes the connection`(_ kind: Kind)
    async throws
  {
    try await expect(400, kind)
  }

  @Test func `an unknown transfer coding gets 501 and closes the connection`() async throws {
    try await expect(
      501,
      .fields(
        "codings",
        ["gzip, chunked", "identity, chunked", "x, y ,\tChunked", "nonsense,chunked"].map {
          "Transfer-Encoding: \($0)"
        }))
  }

  @Test func `another version gets 505 and closes the connection`() async throws {
    try await expect(
      505,
      Kind(
        "versions",
        ["2.0", "0.9", "3.0", "9.9", "5.6"].map { "GET / HTTP/\($0)\r\nHost: a\r\n\r\n" }
          + ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]))
  }

  @Test func `CONNECT gets 405 and closes the connection`() async throws {
    try await expect(
      405,
      Kind(
        "CONNECT", ["a:443", "a", "/", "*", "a:0", ":1"].map { "CONNECT \($0) HTTP/1.1\r\nHost: a\r\n\r\n" }))
  }

  @Test func `an unknown expectation gets 417 and closes the connection`() async throws {
    try await expect(
      417,
      Kind(
        "expectations",
        ["a", "100-continue, a", "100-continue\r\nExpect: a", "100-continue;q=1", "200-ok", ""].map {
          "POST / HTTP/1.1\r\nHost: a\r\nExpect: \($0)\r\nContent-Length: 5\r\n\r\nhello"
        }))
  }

  @Test func `a chunk that would exceed the limit gets 413 before it is sent`() async throws {
    try await expect(
      413,
      Kind(
        "sizes",
        ["80000001\r\n", "100000000\r\nhello", "7FFFFFFFFFFFFFFF\r\n"].map {
          "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\($0)"
        }))
  }

  /// Sends each request followed by another one, and expects only one response, with `status`.
  private func expect(_ status: Int, _ kind: Kind) async throws {
    try await withServer(handler: { request in
      if request.path == "/" { return try await echo(request) }
      return HTTPServerResponse(status: .ok, body: .bytes(Array(request.path.utf8)))
    }) { _, port in
      try await RawHTTPClient.run {
        for request in kind.requests {
          let client = try RawHTTPClient(port: port)
          try client.send((request + Self.next).unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
          let answer = String(decoding: try client.receiveAll(), as: UTF8.self)
          let name = String(request.debugDescription.prefix(200))
          #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(name) gives \(answer)")
          #expect(answer.contains("\r\nConnection: close\r\n"), "\(name) gives \(answer)")
          #expect(answer.contains("\r\nDate: "), "\(name) gives \(answer)")
          #expect(answer.ranges(of: /HTTP\/1\.1 [0-9]/).count == 1, "\(name) gives \(answer)")
        }
      }
    }
  }
}
