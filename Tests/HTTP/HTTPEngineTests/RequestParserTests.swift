import Testing

@testable import HTTPEngine

@Suite struct RequestParserTests {
  /// Parses `text` at once.
  private func parse(_ text: String, limits: HTTPLimits = HTTPLimits()) -> RequestParser.Outcome {
    parse(Array(text.utf8), limits: limits)
  }

  private func parse(_ bytes: [UInt8], limits: HTTPLimits = HTTPLimits()) -> RequestParser.Outcome {
    var parser = RequestParser(limits: limits)
    return bytes.withUnsafeBytes { parser.parse($0) }
  }

  private func head(_ text: String) throws -> RequestHead {
    guard case .complete(let head) = parse(text) else { throw Unexpected(outcome: "\(parse(text))") }
    return head
  }

  private func text(_ span: RequestHead.Span, in text: String) -> String {
    String(decoding: Array(text.utf8)[span.range], as: UTF8.self)
  }

  private struct Unexpected: Error { let outcome: String }

  private static let rich =
    "PUT http://example.org:81/a%20b?x=[1]&y HTTP/1.1\r\nHost: other\r\nX-Empty:\r\nAccept: \t a, b \t\r\n"
    + "Connection: Upgrade , close\r\nContent-Length: 12\r\nExpect: 100-CONTINUE\r\n\r\nhello"

  @Test func `the parts of a head are located`() throws {
    let head = try head(Self.rich)
    #expect(text(head.method, in: Self.rich) == "PUT")
    #expect(text(head.path, in: Self.rich) == "/a%20b")
    #expect(head.query.map { text($0, in: Self.rich) } == "x=[1]&y")
    #expect(text(head.authority, in: Self.rich) == "example.org:81")
    #expect(head.framing == .length(12))
    #expect(!head.keepsAlive)
    #expect(head.expectsContinue)
    #expect(!head.hasUnknownExpectation)
    #expect(head.length == Self.rich.utf8.count - 5)
  }

  @Test func `the result does not depend on how the head is split`() throws {
    let bytes = Array(Self.rich.utf8)
    let whole = try head(Self.rich)
    for split in 0...bytes.count {
      var parser = RequestParser(limits: HTTPLimits())
      let first = bytes[..<split].withUnsafeBytes { parser.parse($0) }
      if split < whole.length {
        #expect(first == .incomplete, "after \(split) bytes")
        let second = bytes.withUnsafeBytes { parser.parse($0) }
        #expect(second == .complete(whole), "after \(split) bytes")
      } else {
        #expect(first == .complete(whole))
      }
    }
    var parser = RequestParser(limits: HTTPLimits())
    for count in 0...whole.length {
      let outcome = bytes[..<count].withUnsafeBytes { parser.parse($0) }
      #expect(outcome == (count < whole.length ? .incomplete : .complete(whole)))
    }
  }

  /// Malformed requests, each for one reason.
  static let malformed: [String] = [
    // Two ways to determine the end of the body.
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 3\r\n\r\n",
    // Invalid lengths.
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1 2\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x10\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1_0\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9223372036854775808\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ３\r\n\r\n",
    // Codings that hide `chunked`, or in which it is not the last one.
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ,chunked\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \"chunked\"\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked;q=1\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \u{0B}chunked\r\n\r\n",
    "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
    // Line ends.
    "GET / HTTP/1.1\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\n",
    "GET / HTTP/1.1\r\nHost: a\r\nX: b\rY: c\r\n\r\n", "GET / HTTP/1.1\r\r\nHost: a\r\n\r\n",
    "GET /\r HTTP/1.1\r\nHost: a\r\n\r\n", "\n\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
    // Fields.
    "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n\tc\r\n\r\n",
    "GET / HTTP/1.1\r\n Host: a\r\n\r\n", "GET / HTTP/1.1\r\n\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.1\r\nHost : a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX\t: b\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nX Y: b\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX(: b\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nÜ: b\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX\0: b\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nX: b\0c\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX: \u{7F}\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nX: \u{1B}[1m\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nX: 01234567\u{1}9abcdef\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nX: 0123456789abcde\u{7F}\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nX: \t\t\t\t\t\t\t\t\t\t\u{1F}\t\t\r\n\r\n",
    // Host.
    "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nhOST: b\r\n\r\n", "GET / HTTP/1.1\r\nHost:\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", "GET / HTTP/1.1\r\nHost: a,b\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a:b\r\n\r\n", "GET / HTTP/1.1\r\nHost: a:65536\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a:80:80\r\n\r\n", "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: [::g]\r\n\r\n", "GET / HTTP/1.1\r\nHost: []\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: :80\r\n\r\n", "GET / HTTP/1.1\r\nHost: a?\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: .\r\n\r\n", "GET / HTTP/1.1\r\nHost: a..b\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: [1:2]\r\n\r\n", "GET / HTTP/1.1\r\nHost: [::1%25lo]\r\n\r\n",
    "GET / HTTP/1.0\r\nHost: a b\r\n\r\n", "GET http://a/ HTTP/1.1\r\n\r\n",
    // The request line.
    "GET /\r\n\r\n", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", "GET /  HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n", " GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.1 \r\nHost: a\r\n\r\n", "GET / http/1.1\r\nHost: a\r\n\r\n",
    "GET / HTTP/1\r\nHost: a\r\n\r\n", "GET / HTTP/1.10\r\nHost: a\r\n\r\n",
    "GET / HTTP/1,1\r\nHost: a\r\n\r\n",
    "GET / HTTPS/1.1\r\nHost: a\r\n\r\n", "GET / XTTP/1.1\r\nHost: a\r\n\r\n",
    "GET HTTP/1.1\r\nHost: a\r\n\r\n",
    "/ HTTP/1.1\r\nHost: a\r\n\r\n", "G{T / HTTP/1.1\r\nHost: a\r\n\r\n", "GÄT / HTTP/1.1\r\nHost: a\r\n\r\n",
    "(GET) / HTTP/1.1\r\nHost: a\r\n\r\n", "\u{16}\u{03}\u{01}",
    // The target.
    "GET a HTTP/1.1\r\nHost: a\r\n\r\n", "GET * HTTP/1.1\r\nHost: a\r\n\r\n",
    "OPTIONS ** HTTP/1.1\r\nHost: a\r\n\r\n", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", "GET /?a#b HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /ä HTTP/1.1\r\nHost: a\r\n\r\n", "GET /?ä HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", "GET /%4 HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /\\ HTTP/1.1\r\nHost: a\r\n\r\n", "GET /<a> HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n", "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET http:// HTTP/1.1\r\nHost: a\r\n\r\n", "GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n", "GET http://a\\b/ HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET javascript:x HTTP/1.1\r\nHost: a\r\n\r\n",
  ]

  @Test(arguments: malformed) func `ambiguous requests are rejected`(_ request: String) {
    guard case .refused(.malformed) = parse(request) else {
      Issue.record("\(request.debugDescription) gives \(parse(request))")
      return
    }
    // The result is the same in two pieces, for every split.
    let bytes = Array(request.utf8)
    for split in 0..<bytes.count {
      var parser = RequestParser(limits: HTTPLimits())
      let first = bytes[..<split].withUnsafeBytes { parser.parse($0) }
      let outcome = first == .incomplete ? bytes.withUnsafeBytes { parser.parse($0) } : first
      guard case .refused(.malformed) = outcome else {
        Issue.record("\(request.debugDescription) in two at \(split) gives \(outcome)")
        return
      }
    }
  }

  @Test(arguments: [
    "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.9\r\nHost: a\r\n\r\n", "PURGE / HTTP/1.1\r\nHost: a\r\n\r\n",
    "!#$%&'*+-.^_`|~ / HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.1\r\nHost:a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a:\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX: \u{FF}\r\n\r\n",
    "GET // HTTP/1.1\r\nHost: a\r\n\r\n", "GET /? HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET HTTPS://a HTTP/1.1\r\nHost: b\r\n\r\n", "GET http://a?q HTTP/1.1\r\nHost: b\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9223372036854775807\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 007\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\ntransfer-ENCODING: CHUNKED \r\n\r\n", "GET / HTTP/1.0\r\n\r\n",
  ]) func `unusual but valid requests are accepted`(_ request: String) {
    guard case .complete(let head) = parse(request) else {
      Issue.record("\(request.debugDescription) gives \(parse(request))")
      return
    }
    #expect(head.length == request.utf8.count)
  }

  @Test(arguments: [
    ("HTTP/1.1", "", true), ("HTTP/1.1", "Connection: close\r\n", false),
    ("HTTP/1.1", "Connection: x\r\nConnection: CLOSE\r\n", false),
    ("HTTP/1.1", "Connection: closed\r\n", true),
    ("HTTP/1.0", "", false), ("HTTP/1.0", "Connection: Keep-Alive\r\n", true),
    ("HTTP/1.0", "Connection: keep-alive, close\r\n", false),
  ]) func `version and Connection determine whether the connection is kept open`(
    version: String, fields: String, keeps: Bool
  ) throws {
    #expect(try head("GET / \(version)\r\nHost: a\r\n\(fields)\r\n").keepsAlive == keeps)
  }

  @Test func `other versions, other codings and CONNECT have their own errors`() {
    #expect(parse("GET / HTTP/2.0\r\nHost: a\r\n\r\n") == .refused(.unsupportedVersion))
    #expect(parse("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") == .refused(.unsupportedVersion))
    #expect(parse("CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n") == .refused(.noProxy))
    for request in [
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x, y, chunked\r\n\r\n",
    ] {
      guard case .refused(.notImplemented) = parse(request) else {
        Issue.record("\(request.debugDescription) gives \(parse(request))")
        continue
      }
    }
  }

  /// The lists of one line, which are also split into lines at each comma.
  @Test(arguments: [
    "gzip, chunked", "x, y, chunked", "chunked, gzip", "chunked, chunked", "gzip, gzip", "gzip, , chunked",
    ", chunked", "chunked, ", "chunked;q=1, chunked", "identity, chunked", "gzip, chunked, chunked",
  ])
  func `Transfer-Encoding in several lines has the same result as in one`(list: String) {
    func request(_ lines: [String]) -> String {
      "POST / HTTP/1.1\r\nHost: a\r\n" + lines.map { "Transfer-Encoding: \($0)\r\n" }.joined() + "\r\n"
    }
    let codings = list.split(separator: ", ", omittingEmptySubsequences: false).map(String.init)
    let one = parse(request([list]))
    if case .complete = one { Issue.record("\(list) is taken") }
    for cut in 1..<codings.count {
      let lines = [codings[..<cut].joined(separator: ", "), codings[cut...].joined(separator: ", ")]
      #expect(parse(request(lines)) == one, "\(lines)")
      let withLength = "POST / HTTP/1.1\r\nContent-Length: 3\r\n" + request(lines).dropFirst(17)
      guard case .refused(.malformed) = parse(withLength) else {
        Issue.record("\(lines) is taken with Content-Length")
        continue
      }
    }
  }

  @Test(arguments: ["[::1%25lo]", "[fe80::1%eth0]:8080"])
  func `a zone in Host is refused by its name`(host: String) {
    let expected = Refusal.malformed("The field Host must not have the zone of an IPv6 address.")
    #expect(parse("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n") == .refused(expected))
  }

  @Test func `expectations depend on version and value`() throws {
    #expect(try head("GET / HTTP/1.1\r\nHost: a\r\nExpect: a miracle\r\n\r\n").hasUnknownExpectation)
    #expect(try !head("GET / HTTP/1.0\r\nHost: a\r\nExpect: a miracle\r\n\r\n").hasUnknownExpectation)
    #expect(try !head("GET / HTTP/1.0\r\nHost: a\r\nExpect: 100-continue\r\n\r\n").expectsContinue)
  }

  @Test(arguments: [
    "Expect: 100-continue\r\nExpect: 100-continue", "Expect: 100-continue, 100-Continue",
    "Expect: ,100-continue ,",
  ])
  func `the same expectation twice is the expectation, in one line or two`(lines: String) throws {
    let head = try head("POST / HTTP/1.1\r\nHost: a\r\n\(lines)\r\n\r\n")
    #expect(head.expectsContinue && !head.hasUnknownExpectation)
  }

  @Test func `a request line is accepted up to its limit`() {
    var limits = HTTPLimits()
    limits.requestLineBytes = 100
    func outcome(_ length: Int, isWhole: Bool = true) -> RequestParser.Outcome {
      let line = "GET /" + String(repeating: "a", count: length - 14) + " HTTP/1.1"
      return parse(line + (isWhole ? "\r\nHost: a\r\n\r\n" : ""), limits: limits)
    }
    if case .refused(let refusal) = outcome(99) { Issue.record("\(refusal)") }
    if case .refused(let refusal) = outcome(100) { Issue.record("\(refusal)") }
    #expect(outcome(101) == .refused(.targetTooLong))
    #expect(outcome(101, isWhole: false) == .incomplete)
    #expect(outcome(102, isWhole: false) == .refused(.targetTooLong))
  }

  @Test func `a head is accepted up to its limit`() {
    var limits = HTTPLimits()
    limits.headBytes = 200
    func outcome(_ length: Int, isWhole: Bool = true) -> RequestParser.Outcome {
      let start = "GET / HTTP/1.1\r\nHost: a\r\nX: "
      let filler = String(repeating: "a", count: length - start.utf8.count - 4)
      return parse(start + filler + (isWhole ? "\r\n\r\n" : ""), limits: limits)
    }
    for length in [199, 200] {
      if case .complete = outcome(length) {} else { Issue.record("\(length) gives \(outcome(length))") }
    }
    #expect(outcome(201) == .refused(.headTooLarge))
    #expect(outcome(203, isWhole: false) == .incomplete)
    #expect(outcome(204, isWhole: false) == .refused(.headTooLarge))
  }

  @Test func `fields are accepted up to their maximum number`() {
    var limits = HTTPLimits()
    limits.fieldCount = 5
    func outcome(_ count: Int) -> RequestParser.Outcome {
      let fields = (1..<count).map { "X\($0): y\r\n" }.joined()
      return parse("GET / HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n", limits: limits)
    }
    for count in [4, 5] {
      if case .complete = outcome(count) {} else { Issue.record("\(count) gives \(outcome(count))") }
    }
    #expect(outcome(6) == .refused(.headTooLarge))
  }
}
