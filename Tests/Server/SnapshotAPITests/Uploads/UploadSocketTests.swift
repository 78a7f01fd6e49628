import Crypto
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Logging
import Observability
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

/// Behaviour that requires connections: interim responses, broken connections, and requests that take over.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct UploadSocketTests {
  private let bundle: ZippedSample
  private let api = TestAPI()

  init() throws { bundle = try ZippedSample(String(repeating: "{\"news\":[]}", count: 5000)) }

  /// Serves the API while `talk` blocks a thread of its own.
  private func serve(_ talk: @escaping @Sendable (UInt16) throws -> Void) async throws {
    var configuration = HTTPServer.Configuration(port: 0)
    configuration.eventLoops = 1
    let server = HTTPServer(
      configuration: configuration, handler: api.handler, logger: Logger(label: "test") { _ in api.log })
    let port = try await server.start().port
    do {
      try await RawHTTPClient.run { try talk(port) }
    } catch {
      await server.shutdown(deadline: .zero)
      throw error
    }
    await server.shutdown(deadline: .zero)
  }

  private static func head(_ request: String, _ fields: [String], version: String = "1.1") -> String {
    ([request + " HTTP/" + version, "Host: localhost"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
  }

  private var put: String { "PUT /v1/reports/BUG-1/snapshots/\(bundle.id)" }

  /// The requests of the system's own client, for each version: an upload that breaks off, and its resumption.
  struct Client: Sendable, CustomTestStringConvertible {
    let name: String
    let number: Int
    let whole: String
    let more: [String]
    var testDescription: String { name }

    static let all = [
      Client(
        name: "iOS 17", number: 3, whole: "Upload-Incomplete: ?0", more: ["Content-Type: application/zip"]),
      Client(
        name: "iOS 18.0", number: 5, whole: "Upload-Complete: ?1", more: ["Content-Type: application/zip"]),
      Client(
        name: "iOS 18.1", number: 6, whole: "Upload-Complete: ?1",
        more: ["Content-Type: application/partial-upload"]),
      Client(
        name: "iOS 26", number: 8, whole: "Upload-Complete: ?1",
        more: ["Content-Type: application/partial-upload"]),
    ]
    var version: String { "Upload-Draft-Interop-Version: \(number)" }
  }

  @Test(arguments: Client.all, [true, false]) func `an upload that broke off continues where it stopped`(
    client system: Client, isReset: Bool
  ) async throws {
    let (bundle, put) = (bundle, put)
    try await serve { port in
      let first = try RawHTTPClient(port: port)
      let half = bundle.bytes.count / 2
      try first.send(
        Self.head(
          put,
          [
            "Content-Type: application/zip", "Content-Length: \(bundle.bytes.count)", system.version,
            system.whole,
            "User-Agent: Example/1 CFNetwork/3826 Darwin/25",
          ]))
      let interim = try first.receiveResponse()
      #expect(interim.status == 104)
      #expect(interim.field("Upload-Draft-Interop-Version") == "\(system.number)")
      let path = try #require(interim.field("Location"))
      try first.send(Array(bundle.bytes[..<half]))
      // If the connection is not ended, the server has not noticed the break yet.
      if isReset { first.endSending() }
      let second = try RawHTTPClient(port: port)
      // Bytes in transit are not lost: the client sends them again.
      try second.send(Self.head("HEAD \(path)", [system.version]))
      let told = try second.receiveResponse(toHEAD: true)
      #expect(told.status == 204)
      let offset = try #require(told.field("Upload-Offset").flatMap(Int.init))
      #expect(offset <= half)
      #expect(
        told.field(system.number < 5 ? "Upload-Incomplete" : "Upload-Complete")
          == (system.number < 5 ? "?1" : "?0"))
      let rest = Array(bundle.bytes[offset...])
      try second.send(
        Self.head(
          "PATCH \(path)",
          [system.version, "Upload-Offset: \(offset)", system.whole, "Content-Length: \(rest.count)"]
            + system.more))
      try second.send(rest)
      var answer = try second.receiveResponse()
      while answer.status == 104 { answer = try second.receiveResponse() }
      #expect(answer.status == 201)
      #expect(answer.field("Location") == "/v1/snapshots/\(bundle.id)")
      try second.send(Self.head("GET /v1/snapshots/\(bundle.id).zip", []))
      #expect(try second.receiveResponse().body == bundle.bytes)
    }
  }

  @Test func `a request that hangs is ended by the next, and its bytes are kept`() async throws {
    let (bundle, count) = (bundle, bundle.bytes.count)
    let path = try await api.open(count, [("report", "BUG-1"), ("id", "\(bundle.id)")])
    let half = count / 2
    let patch: @Sendable (Int) -> String = { offset in
      Self.head(
        "PATCH \(path)",
        [
          "Tus-Resumable: 1.0.0", "Content-Type: application/offset+octet-stream", "Upload-Offset: \(offset)",
          "Content-Length: \(count - offset)",
        ])
    }
    try await serve { port in
      let hanging = try RawHTTPClient(port: port)
      try hanging.send(patch(0))
      try hanging.send(Array(bundle.bytes[..<half]))
      let next = try RawHTTPClient(port: port)
      var offset = 0
      // The bytes are stored as soon as the server has read them.
      while offset < half {
        try next.send(Self.head("HEAD \(path)", ["Tus-Resumable: 1.0.0"]))
        offset = try #require(try next.receiveResponse(toHEAD: true).field("Upload-Offset").flatMap(Int.init))
        if offset < half {
          let again = try RawHTTPClient(port: port)
          try again.send(patch(offset))
          try again.send(Array(bundle.bytes[offset..<half]))
        }
      }
      // The request that hung gets an error response.
      #expect(try hanging.receiveResponse().status == 409)
      try next.send(patch(offset))
      try next.send(Array(bundle.bytes[offset...]))
      #expect(try next.receiveResponse().status == 204)
    }
    #expect(try await api.store.record(bundle.id).sha256 == bundle.sha256)
  }

  @Test func `DELETE ends a running request`() async throws {
    let bundle = bundle
    let path = try await api.open(bundle.bytes.count)
    try await serve { port in
      let hanging = try RawHTTPClient(port: port)
      try hanging.send(
        Self.head(
          "PATCH \(path)",
          [
            "Tus-Resumable: 1.0.0", "Content-Type: application/offset+octet-stream", "Upload-Offset: 0",
            "Content-Length: \(bundle.bytes.count)", "Expect: 100-continue",
          ]))
      #expect(try hanging.receiveResponse().status == 100)
      let next = try RawHTTPClient(port: port)
      try next.send(Self.head("DELETE \(path)", ["Tus-Resumable: 1.0.0"]))
      #expect(try next.receiveResponse().status == 204)
      #expect(try hanging.receiveResponse().status >= 400)
    }
    #expect(await api.store.uploads.uploadSessions().isEmpty)
  }

  @Test func `an HTTP 1.0 client gets no interim response`() async throws {
    let (bundle, put) = (bundle, put)
    try await serve { port in
      let client = try RawHTTPClient(port: port)
      try client.send(
        Self.head(
          put,
          [
            "Content-Type: application/zip", "Content-Length: \(bundle.bytes.count)",
            "Upload-Draft-Interop-Version: 8", "Upload-Complete: ?1",
          ], version: "1.0"))
      try client.send(bundle.bytes)
      #expect(try client.receiveResponse().status == 201)
    }
  }

  @Test func `a checksum can follow a chunked body`() async throws {
    let bundle = bundle
    let piece = Array(bundle.bytes[..<1000])
    let path = try await api.open(bundle.bytes.count)
    let request = Self.head(
      "PATCH \(path)",
      [
        "Tus-Resumable: 1.0.0", "Content-Type: application/offset+octet-stream", "Upload-Offset: 0",
        "Transfer-Encoding: chunked", "Trailer: Upload-Checksum",
      ])
    let digest: @Sendable ([UInt8]) -> String = { bytes in
      Data(Insecure.SHA1.hash(data: bytes)).base64EncodedString()
    }
    try await serve { port in
      let client = try RawHTTPClient(port: port)
      for (text, status, offset) in [(digest([1]), 460, nil), (digest(piece), 204, "1000")]
        as [(String, Int, String?)]
      {
        try client.send(request + "3e8\r\n")
        try client.send(piece)
        try client.send("\r\n0\r\nUpload-Checksum: sha1 \(text)\r\n\r\n")
        let answer = try client.receiveResponse()
        #expect(answer.status == status)
        #expect(answer.field("Upload-Offset") == offset)
      }
    }
  }

  /// The requests that append bytes, each with its header fields except those for the framing of the body.
  private func bringing(_ path: String, _ draftPath: String) -> [(request: String, fields: [String])] {
    [
      (
        "PATCH \(path)",
        ["Tus-Resumable: 1.0.0", "Content-Type: application/offset+octet-stream", "Upload-Offset: 0"]
      ),
      (
        "PATCH \(draftPath)",
        ["Upload-Complete: ?0", "Content-Type: application/partial-upload", "Upload-Offset: 0"]
      ),
      ("POST /v1/reports/BUG-1/snapshots", ["Upload-Complete: ?1", "Content-Type: application/zip"]),
      ("POST /v1/reports/BUG-1/snapshots", ["Upload-Complete: ?0", "Content-Type: application/zip"]),
      (
        "POST /v1/uploads",
        [
          "Tus-Resumable: 1.0.0", "Content-Type: application/offset+octet-stream", "Upload-Length: 100",
          "Upload-Metadata: report QlVHLTE=",
        ]
      ),
    ]
  }

  @Test(arguments: 0..<5) func `a body that is badly chunked or breaks off is the client's error`(index: Int)
    async throws
  {
    let draft = try await api.upload([], fields: [.uploadComplete: "?0"])
    let (request, fields) = bringing(try await api.open(100), try #require(draft.fields[.location]))[index]
    try await serve { port in
      let malformed = try RawHTTPClient(port: port)
      try malformed.send(Self.head(request, fields + ["Transfer-Encoding: chunked"]) + "1\r\nab\r\n")
      #expect(try malformed.receiveResponse().status == 400)
      for framing in ["Transfer-Encoding: chunked", "Content-Length: 3"] {
        let broken = try RawHTTPClient(port: port)
        try broken.send(Self.head(request, fields + [framing]) + "1\r")
        broken.endSending()
        let answer = String(decoding: try broken.receiveAll(), as: UTF8.self)
        #expect(!answer.contains(" 500 "), "\(answer)")
      }
    }
    #expect(api.log.lines.allSatisfy { !$0.hasPrefix("error") }, "\(api.log.lines)")
  }

  @Test func `after a 104 the body is still requested`() async throws {
    let (bundle, put) = (bundle, put)
    try await serve { port in
      let client = try RawHTTPClient(port: port)
      try client.send(
        Self.head(
          put,
          [
            "Content-Type: application/zip", "Content-Length: \(bundle.bytes.count)",
            "Upload-Draft-Interop-Version: 8", "Upload-Complete: ?1", "Expect: 100-continue",
          ]))
      #expect(try client.receiveResponse().status == 104)
      #expect(try client.receiveResponse().status == 100)
      try client.send(bundle.bytes)
      var answer = try client.receiveResponse()
      while answer.status == 104 { answer = try client.receiveResponse() }
      #expect(answer.status == 201)
    }
  }

  @Test func `a connection that breaks after any number of bytes loses none that were acknowledged`()
    async throws
  {
    let small = try ZippedSample()
    let count = small.bytes.count
    for cut in stride(from: 0, through: count, by: 37) {
      let id = SnapshotID()
      let path = try await api.open(count, [("report", "BUG-1"), ("id", "\(id)")])
      try await serve { port in
        let broken = try RawHTTPClient(port: port)
        let patch: @Sendable (Int) -> String = { offset in
          Self.head(
            "PATCH \(path)",
            [
              "Tus-Resumable: 1.0.0", "Content-Type: application/offset+octet-stream",
              "Upload-Offset: \(offset)",
              "Content-Length: \(count - offset)",
            ])
        }
        try broken.send(patch(0))
        try broken.send(Array(small.bytes[..<cut]))
        broken.endSending()
        // Waits for the end of the connection, so that all bytes have been received.
        #expect(broken.isClosedByPeer())
        let next = try RawHTTPClient(port: port)
        try next.send(Self.head("HEAD \(path)", ["Tus-Resumable: 1.0.0"]))
        #expect(try next.receiveResponse(toHEAD: true).field("Upload-Offset") == "\(cut)")
        try next.send(patch(cut))
        try next.send(Array(small.bytes[cut...]))
        #expect(try next.receiveResponse().status == 204)
      }
      #expect(try await api.store.record(id).sha256 == small.sha256)
    }
  }
}
