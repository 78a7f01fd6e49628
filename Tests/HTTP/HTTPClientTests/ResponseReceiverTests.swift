import Foundation
import HTTPClient
import HTTPTypes
import SystemIO
import TestSupport
import Testing

/// The lengths in a response's head, before the body arrives.
@Suite struct ResponseReceiverTests {
  private func head(_ status: HTTPResponse.Status, _ fields: HTTPFields) -> HTTPResponse {
    HTTPResponse(status: status, headerFields: fields)
  }

  @Test func `a part whose end overflows has an unknown total`() throws {
    let folder = try TemporaryFolder()
    try folder.write(Data("abc".utf8), to: "file")
    let events = EventLog()
    var receiver = try ResponseReceiver(
      method: .get, destination: .file(folder.file("file"), offset: 3, limit: 100), events: events.record)
    try receiver.begin(
      head(.partialContent, [.contentRange: "bytes 3-4/*", .contentLength: "9223372036854775807"]))
    #expect(events.progress.map(\.total) == [nil])
    #expect(!receiver.isComplete)
  }

  @Test func `a part of known length has its end as the total`() throws {
    let folder = try TemporaryFolder()
    try folder.write(Data("abc".utf8), to: "file")
    let events = EventLog()
    var receiver = try ResponseReceiver(
      method: .get, destination: .file(folder.file("file"), offset: 3, limit: 100), events: events.record)
    try receiver.begin(head(.partialContent, [.contentRange: "bytes 3-4/*", .contentLength: "2"]))
    #expect(events.progress.map(\.total) == [5])
  }

  @Test func `a negative length is ignored`() throws {
    var receiver = try ResponseReceiver(method: .get, destination: .memory(limit: 10), events: nil)
    try receiver.begin(head(.ok, [.contentLength: "-5"]))
    #expect(!receiver.isComplete)
  }
}
