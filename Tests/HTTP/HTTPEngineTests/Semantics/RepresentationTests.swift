import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SystemIO
import TestSupport
import Testing

@Suite struct RepresentationTests {
  private let folder: TemporaryFolder
  private let representations: [Representation]
  private static let text = "0123456789abcdefghij"

  init() throws {
    folder = try TemporaryFolder()
    let file = try File(folder.write(Data(Self.text.utf8), to: "content").path)
    let parts: [HTTPServerResponse.Part] = [
      .bytes(Array("0123".utf8)), .file(file, offset: 4, count: 10), .bytes([]), .bytes(Array("efghij".utf8)),
    ]
    representations = [.file(file, size: 20), .bytes(Array(Self.text.utf8)), .parts(parts)].map {
      Representation(
        $0, contentType: "application/zip", entityTag: .strong("tag"),
        lastModified: HTTPDate(secondsSince1970: 784_111_777),
        headerFields: [.cacheControl: "private", .vary: "Accept", .contentDisposition: "attachment"])
    }
  }

  private func responses(
    _ method: HTTPRequest.Method = .get, _ fields: HTTPFields = [:]
  ) throws(HTTPProblem) -> [HTTPServerResponse] {
    try representations.map { representation throws(HTTPProblem) in
      try representation.response(
        to: HTTPServerRequest(method: method, path: "/", headerFields: fields), boundary: "BOUNDARY")
    }
  }

  private func body(_ response: HTTPServerResponse) throws -> String {
    var bytes: [UInt8] = []
    switch response.body {
    case .empty: break
    case .bytes(let all): bytes = all
    case .parts(let parts):
      for part in parts {
        switch part {
        case .bytes(let more): bytes += more
        case .file(let file, let offset, let count): bytes += try file.read(upTo: Int(count), at: offset)
        }
      }
    case .stream: Issue.record("streams are not expected")
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test(arguments: [HTTPRequest.Method.get, .head]) func `the whole content has its validators`(
    method: HTTPRequest.Method
  ) throws {
    for response in try responses(method) {
      #expect(response.status == .ok)
      #expect(response.headerFields[.contentType] == "application/zip")
      #expect(response.headerFields[.eTag] == "\"tag\"")
      #expect(response.headerFields[.lastModified] == "Sun, 06 Nov 1994 08:49:37 GMT")
      #expect(response.headerFields[.acceptRanges] == "bytes")
      #expect(response.headerFields[.cacheControl] == "private")
      #expect(response.headerFields[.contentDisposition] == "attachment")
      #expect(try body(response) == Self.text)
    }
  }

  @Test func `one range is a part without multipart`() throws {
    for field in ["bytes=5-9", "bytes=5-9,100-200"] {
      for response in try responses(.get, [.range: field]) {
        #expect(response.status == .partialContent)
        #expect(response.headerFields[.contentRange] == "bytes 5-9/20")
        #expect(response.headerFields[.contentType] == "application/zip")
        #expect(response.headerFields[.eTag] == "\"tag\"")
        #expect(try body(response) == "56789")
      }
    }
  }

  @Test func `several ranges are multipart`() throws {
    for response in try responses(.get, [.range: "bytes=0-1,-2"]) {
      #expect(response.status == .partialContent)
      #expect(response.headerFields[.contentType] == "multipart/byteranges; boundary=BOUNDARY")
      #expect(response.headerFields[.contentRange] == nil)
      let expected = """
        --BOUNDARY\r
        Content-Type: application/zip\r
        Content-Range: bytes 0-1/20\r
        \r
        01\r
        --BOUNDARY\r
        Content-Type: application/zip\r
        Content-Range: bytes 18-19/20\r
        \r
        ij\r
        --BOUNDARY--\r

        """
      #expect(try body(response) == expected)
    }
  }

  @Test func `HEAD ignores ranges`() throws {
    for response in try responses(.head, [.range: "bytes=0-1"]) {
      #expect(response.status == .ok)
      #expect(response.headerFields[.contentRange] == nil)
    }
  }

  @Test func `If-Range determines whether a range counts`() throws {
    for response in try responses(.get, [.range: "bytes=0-1", .ifRange: "\"tag\""]) {
      #expect(response.status == .partialContent)
    }
    for response in try responses(.get, [.range: "bytes=0-1", .ifRange: "\"other\""]) {
      #expect(response.status == .ok)
      #expect(try body(response) == Self.text)
    }
    for response in try responses(.get, [.range: "bytes=100-", .ifRange: "\"other\""]) {
      #expect(response.status == .ok)
    }
  }

  @Test func `an unsatisfiable range is a 416 with the size`() throws {
    let problem = #expect(throws: HTTPProblem.self) { try responses(.get, [.range: "bytes=20-"]) }
    #expect(problem?.status == .rangeNotSatisfiable)
    #expect(problem?.headerFields[.contentRange] == "bytes */20")
  }

  @Test func `304 has validators and caching rules, and nothing else`() throws {
    for response in try responses(.get, [.ifNoneMatch: "\"tag\"", .range: "bytes=0-1"]) {
      #expect(response.status == .notModified)
      #expect(
        Set(response.headerFields.map(\.name)) == [.eTag, .lastModified, .cacheControl, .vary])
      #expect(try body(response) == "")
    }
  }

  @Test func `a failed precondition takes precedence over the range`() throws {
    let problem = #expect(throws: HTTPProblem.self) {
      try responses(.get, [.ifMatch: "\"other\"", .range: "bytes=20-"])
    }
    #expect(problem?.status == .preconditionFailed)
  }

  @Test func `boundaries are valid in a field and differ`() {
    let boundaries = (0..<100).map { _ in Representation.makeBoundary() }
    #expect(Set(boundaries).count == 100)
    #expect(boundaries.allSatisfy { $0.utf8.count == 32 })
  }

  // MARK: Content produced on demand

  private func made(
    _ method: HTTPRequest.Method = .get, _ fields: HTTPFields = [:]
  ) async throws -> (response: HTTPServerResponse, text: String) {
    let representation = Representation(
      .made(size: 20) { range in
        let pieces = Pieces(Array(Array(Self.text.utf8)[Int(range.lowerBound)..<Int(range.upperBound)]))
        return { pieces.next() }
      }, contentType: "text/plain", entityTag: .strong("tag"))
    let request = HTTPServerRequest(method: method, path: "/", headerFields: fields)
    let response = try representation.response(to: request, boundary: "BOUNDARY")
    var bytes: [UInt8] = []
    if case .stream(_, let next) = response.body { while let piece = try await next() { bytes += piece } }
    return (response, String(decoding: bytes, as: UTF8.self))
  }

  /// Returns bytes one at a time.
  private final class Pieces: Sendable {
    private let rest: Lock<[UInt8]>

    init(_ bytes: [UInt8]) { rest = Lock(bytes) }

    func next() -> [UInt8]? { rest.withLock { $0.isEmpty ? nil : [$0.removeFirst()] } }
  }

  @Test func `content produced on demand is sent completely or in one range, with its length`() async throws {
    #expect(try await made().text == Self.text)
    let range = try await made(.get, [.range: "bytes=5-9"])
    #expect(range.text == "56789")
    #expect(range.response.status == .partialContent)
    #expect(range.response.headerFields[.contentRange] == "bytes 5-9/20")
    let several = try await made(.get, [.range: "bytes=0-1,5-9"])
    #expect(several.response.status == .ok)
    #expect(several.text == Self.text)
    let head = try await made(.head)
    if case .stream(let length, _) = head.response.body { #expect(length == 20) }
    #expect(head.response.headerFields[.acceptRanges] == "bytes")
    #expect(try await made(.get, [.ifNoneMatch: "\"tag\""]).response.status == .notModified)
  }
}
