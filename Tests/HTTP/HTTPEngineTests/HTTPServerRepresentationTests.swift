import HTTPEngine
import HTTPTypes
import TestSupport
import Testing

/// Ranges and conditions (RFC 9110 §13 to §15), tested over a socket.
@Suite(.alsoOverTLS) struct HTTPServerRepresentationTests {
  @Test func `single and multiple ranges are served`() async throws {
    try await withRoutes { exchanges in
      for (range, expected, contentRange) in [
        ("bytes=0-0", "0", "0-0"), ("bytes=2-4", "234", "2-4"), ("bytes=-3", "789", "7-9"),
        ("bytes=-99", "0123456789", "0-9"),
        ("bytes=7-", "789", "7-9"), ("bytes=7-99", "789", "7-9"), ("Bytes=1-2", "12", "1-2"),
        ("bytes=20-, 1-2, 30-40", "12", "1-2"),
      ] {
        let answer = try exchanges.answer("GET", "/file", ["Range: \(range)"])
        #expect(answer.status == 206, "\(range)")
        #expect(answer.text == expected, "\(range)")
        #expect(answer.field("Content-Range") == "bytes \(contentRange)/10", "\(range)")
        #expect(answer.field("ETag") == "\"tag\"")
        #expect(answer.field("Cache-Control") == "private")
      }
      for range in ["bytes=10-", "bytes=99-100", "bytes=-0", "bytes=10-,99-"] {
        let answer = try exchanges.answer("GET", "/file", ["Range: \(range)"])
        #expect(answer.status == 416, "\(range)")
        #expect(answer.field("Content-Range") == "bytes */10", "\(range)")
      }
      for range in [
        "bytes=", "bytes=a", "bytes=1", "bytes=4-2", "bytes=1-2 3-4", "bytes 1-2", "items=1-2",
        "bytes=0-5,5-6", "bytes=1-2,1-2",
        "bytes=0-,-1", "bytes=0-5,0-5", "bytes=-9,-9",
        (["bytes=0-0"] + (1..<17).map { "\($0)-\($0)" }).joined(separator: ","),
      ] {
        let answer = try exchanges.answer("GET", "/file", ["Range: \(range)"])
        #expect(answer.status == 200, "\(range)")
        #expect(answer.text == "0123456789", "\(range)")
        #expect(answer.field("Content-Range") == nil, "\(range)")
      }
      for method in ["HEAD"] {
        #expect(try exchanges.answer(method, "/file", ["Range: bytes=0-1"]).status == 200)
      }
    }
  }

  @Test func `multiple ranges are parts of one response, each with its position`() async throws {
    try await withRoutes { exchanges in
      let answer = try exchanges.answer(
        "GET", "/file", ["Range: bytes=8-9, 0-1 ,-4,20-", "Range: bytes=3-4"])
      // Two fields are one list. Its second element is not a valid range.
      #expect(answer.status == 200)
      let parts = try exchanges.answer("GET", "/file", ["Range: bytes=8-9, 0-1 ,4-4,20-"])
      #expect(parts.status == 206)
      #expect(parts.field("Content-Range") == nil)
      #expect(parts.field("Content-Length") == "\(parts.body.count)")
      let type = try #require(parts.field("Content-Type"))
      let boundary = try #require(type.split(separator: "boundary=").last)
      #expect(type.hasPrefix("multipart/byteranges; boundary="))
      let expected = [("8-9", "89"), ("0-1", "01"), ("4-4", "4")].map { range, bytes in
        "--\(boundary)\r\nContent-Type: text/plain\r\nContent-Range: bytes \(range)/10\r\n\r\n\(bytes)\r\n"
      }
      #expect(parts.text == expected.joined() + "--\(boundary)--\r\n")
    }
  }

  @Test func `conditions are evaluated in the order of RFC 9110, section 13`() async throws {
    let earlier = "Sun, 06 Nov 1994 08:49:36 GMT"
    let same = "Sun, 06 Nov 1994 08:49:37 GMT"
    try await withRoutes { exchanges in
      for (fields, status) in [
        (["If-Match: \"x\"", "If-None-Match: \"tag\""], 412),
        (["If-Match: \"tag\"", "If-None-Match: \"tag\""], 304),
        (["If-Match: W/\"tag\""], 412), (["If-Match: \"x\", \"tag\""], 200), (["If-Match: *"], 200),
        (["If-Match: \"tag\"", "If-Unmodified-Since: \(earlier)"], 200),
        (["If-Unmodified-Since: \(earlier)"], 412),
        (["If-None-Match: W/\"tag\""], 304), (["If-None-Match: *"], 304), (["If-None-Match: \"x\""], 200),
        (["If-None-Match: \"x\"", "If-Modified-Since: \(same)"], 200), (["If-Modified-Since: \(same)"], 304),
        (["If-Modified-Since: \(earlier)"], 200),
        (["If-Modified-Since: Sunday, 06-Nov-94 08:49:37 GMT"], 304),
        (["If-Modified-Since: Sun Nov  6 08:49:37 1994"], 304),
        (["If-Modified-Since: Fri, 25 Feb 2174 09:42:23 GMT"], 304),
        (["If-Modified-Since: yesterday"], 200), (["Range: bytes=0-0", "If-Range: \"tag\""], 206),
        (["Range: bytes=0-0", "If-Range: W/\"tag\""], 200), (["Range: bytes=0-0", "If-Range: \"x\""], 200),
        (["Range: bytes=0-0", "If-Range: \(same)"], 200), (["Range: bytes=99-", "If-Range: \"x\""], 200),
        (["Range: bytes=99-", "If-None-Match: \"tag\""], 304),
        (["Range: bytes=99-", "If-Match: \"x\""], 412),
        (["If-Range: \"x\""], 200),
      ] {
        let lines = fields.map { $0 + "\r\n" }.joined()
        let answer = try exchanges.answer(to: "GET /file HTTP/1.1\r\nHost: a\r\n\(lines)\r\n")
        #expect(answer.status == status, "\(fields)")
        guard status == 304 else { continue }
        #expect(answer.field("ETag") == "\"tag\"")
        #expect(answer.field("Cache-Control") == "private")
        for name in ["Content-Type", "Content-Length", "Content-Range", "Accept-Ranges"] {
          #expect(answer.field(name) == nil, "\(fields) \(name)")
        }
      }
    }
  }
}
