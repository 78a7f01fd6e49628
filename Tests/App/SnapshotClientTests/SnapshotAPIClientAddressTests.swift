import Foundation
import HTTPClient
import HTTPTypes
import SnapshotClient
import SnapshotFormat
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct SnapshotAPIClientAddressTests {
  @Test(arguments: [
    ("http://localhost:8080", "localhost:8080", ""), ("https://example.org", "example.org", ""),
    ("https://example.org/", "example.org", ""), ("HTTPS://example.org/a/b//", "example.org", "/a/b"),
    ("http://[fe80::1%25eth0]:80", "[fe80::1%25eth0]:80", ""), ("http://LocalHost.:80", "LocalHost:80", ""),
    ("http://mac.local:80", "mac.local:80", ""), ("https://example.org.", "example.org.", ""),
    ("http://[::1]:80/x%20y", "[::1]:80", "/x%20y"), ("https://bücher.example", "xn--bcher-kva.example", ""),
  ])
  func `an address with a host is accepted`(
    address: (text: String, authority: String, prefix: String)
  ) async throws {
    let transport = FakeTransport([])
    var configuration = SnapshotAPIClient.Configuration.forTests()
    configuration.retries.attempts = 1
    let client = try SnapshotAPIClient(
      server: try #require(URL(string: address.text)), transport: transport, configuration: configuration)
    let id = SnapshotID()
    _ = await clientError { try await client.record(id) }
    #expect(transport.requests.first?.authority == address.authority)
    #expect(transport.requests.first?.path == address.prefix + "/v1/snapshots/\(id)")
  }

  @Test(arguments: [
    "ftp://example.org", "file:///etc/passwd", "example.org", "http://", "https:///x",
    "http://user@example.org",
    "http://user:password@example.org", "http://example.org/?a=b", "http://example.org/#a",
    "http://example.org:99999",
  ])
  func `any other address is rejected`(text: String) throws {
    let url = try #require(URL(string: text))
    #expect(throws: SnapshotClientError.self) { try SnapshotAPIClient(server: url) }
  }

  @Test(arguments: ["https://example.org/v1", "https://example.org/a/v1/", "http://127.0.0.1:80/v1"])
  func `an address with the path of the API is rejected, and the sentence says what to leave out`(
    text: String
  ) throws {
    let url = try #require(URL(string: text))
    let error = #expect(throws: SnapshotClientError.self) { try SnapshotAPIClient(server: url) }
    #expect(error?.description.hasSuffix("; leave out /v1.") == true)
  }

  @Test(arguments: [
    ("https://example.org", true), ("http://127.0.0.1:80", true), ("http://127.9.8.7", true),
    ("http://localhost", true), ("http://LOCALHOST", true), ("http://localhost.", true),
    ("http://[::1%25lo]", true), ("http://mac.local", false), ("http://[fe80::1%25lo]", false),
    ("http://[::1]:80", true),
    ("http://example.org", false), ("http://127.0.0.1.example.org", false), ("http://127.1", false),
    ("http://localhost.example.org", false), ("http://10.0.0.1", false), ("http://[::2]", false),
    ("http://0.0.0.0", false),
  ])
  func `a token is sent to another machine only over TLS`(server: (text: String, isSafe: Bool)) throws {
    let url = try #require(URL(string: server.text))
    var configuration = SnapshotAPIClient.Configuration()
    if server.isSafe {
      _ = try SnapshotAPIClient(server: url, token: "t", configuration: configuration)
    } else {
      let error = #expect(throws: SnapshotClientError.self) {
        try SnapshotAPIClient(server: url, token: "t", configuration: configuration)
      }
      #expect(error?.code == .insecureToken)
    }
    _ = try SnapshotAPIClient(server: url, configuration: configuration)
    configuration.allowsInsecureToken = true
    _ = try SnapshotAPIClient(server: url, token: "t", configuration: configuration)
  }

  @Test(arguments: ["", "a\r\nX: 1", "a\n", "a b", "a\u{0}", "ü", String(repeating: "t", count: 4097)])
  func `an invalid token is rejected and not shown`(token: String) throws {
    let url = try #require(URL(string: "https://example.org"))
    let error = #expect(throws: SnapshotClientError.self) { try SnapshotAPIClient(server: url, token: token) }
    #expect(error?.code == .invalidToken)
    if token.count > 3 { #expect(error.map { "\($0)".contains(token) } == false) }
  }

  @Test(arguments: [1, 4095, 4096])
  func `a token up to the limit is accepted`(count: Int) throws {
    let url = try #require(URL(string: "https://example.org"))
    _ = try SnapshotAPIClient(server: url, token: String(repeating: "t", count: count))
  }

  @Test func `the token appears in no description`() async throws {
    let url = try #require(URL(string: "http://localhost:1"))
    let transport = FakeTransport([.status(401), .failure(.connectionFailed("refused"))])
    var configuration = SnapshotAPIClient.Configuration.forTests()
    configuration.retries.attempts = 1
    let client = try SnapshotAPIClient(
      server: url, token: "s3cret-t0ken", transport: transport, configuration: configuration)
    var shown = "\(client) \(String(reflecting: client))"
    dump(client, to: &shown)
    for _ in 1...2 {
      let error = await clientError { try await client.record(SnapshotID()) }
      if let error { dump(error, to: &shown) }
      shown += "\(error as Any)"
    }
    #expect(transport.requests.first?.headerFields[.authorization] == "Bearer s3cret-t0ken")
    #expect(!shown.contains("s3cret"))
  }

  @Test func `a server that speaks no TLS is reported as such`() async throws {
    let server = try ScriptedServer { connection in
      try connection.write("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
    }
    let client = try SnapshotAPIClient(server: try #require(URL(string: "https://127.0.0.1:\(server.port)")))
    let error = await clientError { try await client.record(SnapshotID()) }
    #expect(error?.code == .connectionFailed)
    #expect(error?.description.contains("does not speak HTTPS") == true, "\(String(describing: error))")
  }
}
