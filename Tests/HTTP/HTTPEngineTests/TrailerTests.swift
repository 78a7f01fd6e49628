import HTTPSemantics
import HTTPTypes
import SystemIO
import TestSupport
import Testing

@testable import HTTPEngine

@Suite(.alsoOverTLS, .timeLimit(.minutes(5 * Sanitizer.slowness))) struct TrailerTests {
  private static let digest = HTTPField.Name("Content-Digest")

  /// Returns the trailers that a handler sees before and after the end of the body.
  private func trailers(
    _ body: String, inPieces size: Int? = nil,
    of body2: @escaping @Sendable (HTTPRequestBody) -> HTTPRequestBody = { $0 }
  ) async throws -> (before: HTTPFields, after: HTTPFields, head: HTTPFields) {
    let seen = Lock<(HTTPFields, HTTPFields, HTTPFields)>(([:], [:], [:]))
    try await withServer(handler: { request in
      let body = body2(request.body)
      let before = body.trailers
      _ = try await body.collect(upTo: 1000)
      seen.withLock { $0 = (before, body.trailers, request.headerFields) }
      return HTTPServerResponse(status: .ok)
    }) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        let bytes = Array(
          ("POST / HTTP/1.1\r\nHost: a\r\nTrailer: Content-Digest\r\nTransfer-Encoding: chunked\r\n\r\n"
            + body).utf8)
        for start in stride(from: 0, to: bytes.count, by: size ?? bytes.count) {
          try client.send(Array(bytes[start..<min(start + (size ?? bytes.count), bytes.count)]))
        }
        #expect(try client.receiveResponse().status == 200)
      }
    }
    return seen.withLock { $0 }
  }

  @Test(arguments: [nil, 1, 7] as [Int?]) func `trailers are returned separately from the head`(size: Int?)
    async throws
  {
    let digest = try #require(Self.digest)
    let found = try await trailers(
      "5\r\nhello\r\n0\r\ncontent-digest:  sha-256=:x:\t\r\nX-Empty:\r\nX-Twice: 1\r\nX-Twice: 2\r\n\r\n",
      inPieces: size)
    #expect(found.before == [:])
    #expect(found.after[digest] == "sha-256=:x:")
    #expect(found.after.count == 4)
    #expect(found.after[values: try #require(HTTPField.Name("X-Twice"))] == ["1", "2"])
    #expect(found.head == [.trailer: "Content-Digest"])
  }

  @Test func `fields that are not valid in trailers are removed`() async throws {
    let names = [
      "Host", "Content-Length", "Transfer-Encoding", "Authorization", "Cookie", "Content-Type",
      "Content-Encoding",
      "Trailer", "Connection", "Expect", "Forwarded", "Range", "If-Match", "X-Request-Id",
    ]
    let found = try await trailers("0\r\n" + names.map { "\($0): 1\r\n" }.joined() + "X-Kept: 1\r\n\r\n")
    #expect(found.after.map(\.name.canonicalName) == ["x-kept"])
  }

  @Test func `a body without trailers has none`() async throws {
    #expect(try await trailers("5\r\nhello\r\n0\r\n\r\n").after == [:])
    #expect(HTTPRequestBody.empty.trailers == [:])
  }

  @Test func `a limited body has the trailers of the original`() async throws {
    let found = try await trailers("5\r\nhello\r\n0\r\nX-Tail: 1\r\n\r\n") { $0.limited(to: 100) }
    #expect(found.after.count == 1)
  }

  @Test func `the result does not depend on how the lines are split`() throws {
    let bytes = Array("0\r\nA: 1\r\nB:\r\n\r\nGET".utf8)
    for split in 0...bytes.count {
      var decoder = ChunkedDecoder(overheadLimit: 100)
      for piece in [Array(bytes[..<split]), Array(bytes[split...])] {
        var piece = piece
        _ = try piece.withUnsafeMutableBytes { try decoder.decode(UnsafeRawBufferPointer($0), into: $0) }
      }
      #expect(decoder.isComplete)
      #expect(decoder.trailerLines == Array("A: 1\r\nB:\r\n".utf8))
    }
  }
}
