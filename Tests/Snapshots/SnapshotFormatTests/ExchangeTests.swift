import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// The description of HTTP exchanges in the manifest.
struct ExchangeTests {
  private static let exchange = Manifest.Exchange(
    request: .init(
      method: "POST", url: "https://example.com/login",
      fields: [.init("Accept", "*/*"), .init("Accept", "text/html")]),
    response: .init(status: 303, fields: [.init("Location", "/")]),
    redirect: .init(method: "GET", url: "https://example.com/"),
    failure: .init(domain: "NSURLErrorDomain", code: -1001), startedAt: SampleSnapshot.time,
    responseAfter: 41,
    duration: 52)

  private func manifest(_ exchange: String) throws -> Manifest {
    var snapshot = try SampleSnapshot(["a": Data()])
    snapshot.manifest.recordings[0].exchange = Self.exchange
    let json = String(decoding: try SnapshotJSON.encode(snapshot.manifest), as: UTF8.self)
    let written = String(decoding: try SnapshotJSON.encode(Self.exchange), as: UTF8.self)
    #expect(json.contains(written))
    return try Manifest(json: Data(json.replacingOccurrences(of: written, with: exchange).utf8))
  }

  @Test func `an exchange is packed with the body of its request, and read again`() throws {
    let folder = try TemporaryFolder()
    let answer = try folder.write(Data("answer".utf8), to: "answer")
    let body = try folder.write(Data("name=ann".utf8), to: "body")
    let source = SnapshotBundle.Source(
      identifier: "POST https://example.com/login", file: answer, recordedAt: SampleSnapshot.time, call: 3,
      exchange: Self.exchange, requestBody: body)
    let zip = folder.file("a.zip")
    let empty = Manifest(
      id: SnapshotID(), createdAt: SampleSnapshot.time, application: SampleSnapshot.application,
      device: SampleSnapshot.device)
    _ = try SnapshotBundle.pack([source], describedBy: empty, to: zip)
    let unpacked = folder.file("unpacked")
    let recording = try #require(try SnapshotBundle.unpack(zip: zip, into: unpacked).recordings.first)
    var expected = Self.exchange
    expected.request.body = .init(size: 8, sha256: .of(Data("name=ann".utf8)))
    #expect(recording.exchange == expected)
    #expect(
      recording.requestBodyPath
        == "attachments/exchange-requests/^p^o^s^t%20https%3a%2f%2fexample.com%2flogin@3")
    #expect(
      try Data(contentsOf: unpacked.appending(path: recording.requestBodyPath)) == Data("name=ann".utf8))
    // The folder can be packed again.
    let copy = folder.file("b.zip")
    _ = try SnapshotBundle.pack(folder: unpacked, to: copy)
    #expect(try SnapshotBundle.validate(zip: copy, depth: .full).recordings == [recording])
  }

  @Test(arguments: [
    "null", "7", "[]", "{}", #"{"request":{"method":"GET"}}"#,
    #"{"request":{"method":"GET","url":"/"},"startedAt":"yesterday","duration":1}"#,
    #"{"request":{"method":"GET","url":"/"},"startedAt":"2026-11-21T15:04:05Z","duration":-1}"#,
    #"{"request":{"method":"GET","url":"/"},"startedAt":"2026-11-21T15:04:05Z","duration":1,"response":{"status":99}}"#,
    "1e999",
  ])
  func `a value that is not understood is ignored`(value: String) throws {
    let manifest = try manifest(value)
    #expect(manifest.recordings.count == 1 && manifest.recordings[0].exchange == nil)
  }

  @Test(arguments: [(200_000, true), (262_144, false)]) func `a description that is too long is ignored`(
    length: Int, isRead: Bool
  ) throws {
    let exchange =
      #"{"request":{"method":"GET","url":"\#(String(repeating: "x", count: length))"},"startedAt":"2026-11-21T15:04:05Z","duration":1}"#
    #expect(try (manifest(exchange).recordings[0].exchange != nil) == isRead)
  }

  @Test func `unknown members and fields of other forms are ignored`() throws {
    let value =
      #"{"request":{"method":"GET","url":"/","fields":[["a","b"],["c"],7],"mood":1},"startedAt":"2026-11-21T15:04:05Z","duration":1,"failure":7,"redirect":[],"mood":{}}"#
    let exchange = try #require(try manifest(value).recordings[0].exchange)
    #expect(exchange.request.fields == [.init("a", "b")])
    #expect(exchange.failure == nil && exchange.redirect == nil && exchange.response == nil)
  }

  @Test func `the outcome is described in a few words`() {
    var exchange = Self.exchange
    #expect(exchange.status == "303, then timed out")
    exchange.response = nil
    exchange.redirect = nil
    #expect("\(exchange)" == "POST https://example.com/login → timed out, 52 ms")
    exchange.failure = .init(domain: "POSIX", code: 2)
    #expect(exchange.outcome == "POSIX 2")
    exchange = Self.exchange
    exchange.failure = nil
    #expect(exchange.outcome == "303 to https://example.com/")
  }
}
