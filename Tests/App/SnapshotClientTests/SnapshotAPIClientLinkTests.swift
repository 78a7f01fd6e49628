import Foundation
import HTTPClient
import HTTPTypes
import SnapshotClient
import SnapshotFormat
import Testing

@Suite struct SnapshotAPIClientLinkTests {
  private let id = SnapshotID()

  /// Makes a link. The server's response contains `link` as its path.
  private func make(
    _ link: String, url: String? = nil
  ) async throws -> (SnapshotAPIClient.Link, FakeTransport) {
    let stated = url.map { #","url":"\#($0)""# } ?? ""
    let body = #"{"expiresAt":"2026-11-21T16:29:56.000Z","link":"\#(link)"\#(stated)}"#
    let transport = FakeTransport([.status(201, body: Data(body.utf8))])
    let client = try SnapshotAPIClient(
      server: try #require(URL(string: "http://localhost:1/tools/")), transport: transport,
      configuration: .forTests())
    return (try await client.link(to: id, seconds: 3600), transport)
  }

  @Test func `a link consists of the server's address and the path that it returned`() async throws {
    let (link, transport) = try await make("/v1/snapshots/\(id).zip?expires=1&signature=x")
    #expect(
      link.url.absoluteString == "http://localhost:1/tools/v1/snapshots/\(id).zip?expires=1&signature=x")
    #expect(link.expiresAt == Date(timeIntervalSince1970: 1_795_278_596))
    #expect(transport.requests.map(\.method) == [.post])
    #expect(transport.requests.map(\.path) == ["/tools/v1/snapshots/\(id)/links?seconds=3600"])
  }

  @Test func `a server with a public URL states the whole link`() async throws {
    let target = "/shots/v1/snapshots/\(id).zip?expires=1&signature=x"
    let (link, _) = try await make(target, url: "https://tools.example" + target)
    #expect(link.url.absoluteString == "https://tools.example" + target)
  }

  @Test(arguments: ["https://tools.example/other", "file:///x", ""])
  func `a stated link to another resource is rejected`(start: String) async throws {
    let target = "/v1/snapshots/\(id).zip?expires=1"
    let url = start.hasSuffix("other") ? start : start + target
    #expect(await clientError { try await make(target, url: url) }?.code == .unexpectedAnswer)
  }

  @Test(arguments: ["https://example.com/", "//example.com/x.zip?", "/v1/snapshots/x.zip?a", ""])
  func `a link to another resource is rejected`(link: String) async throws {
    #expect(await clientError { try await make(link) }?.code == .unexpectedAnswer)
  }
}
