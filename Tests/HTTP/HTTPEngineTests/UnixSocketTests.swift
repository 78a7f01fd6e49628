import Foundation
import HTTPEngine
import HTTPTypes
import SystemIO
import TestSupport
import Testing

/// A server that listens on a Unix socket.
@Suite(.alsoOverTLS, .timeLimit(.minutes(5 * Sanitizer.slowness))) struct UnixSocketTests {
  private let folder: TemporaryFolder
  private let path: SocketPath

  init() throws {
    folder = try TemporaryFolder()
    path = try #require(SocketPath(folder.path + "/http.sock"))
  }

  private func request(_ forwarded: String? = nil) -> String {
    "GET / HTTP/1.1\r\nHost: localhost\r\n\(forwarded.map { "Forwarded: \($0)\r\n" } ?? "")\r\n"
  }

  @Test func `uploads and downloads pass a Unix socket, and its file is removed at the end`() async throws {
    let body = [UInt8]((0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    let file = folder.file("file")
    try Data(body).write(to: file)
    try await withServer(
      configure: { [path] in
        $0.socketPath = path
        $0.socketMode = 0o600
        $0.eventLoops = 2
      },
      handler: { (request: HTTPServerRequest) async throws -> HTTPServerResponse in
        guard request.method == .get else { return try await echo(request) }
        return HTTPServerResponse(
          status: .ok, body: .parts([.file(try File(file.path), offset: 0, count: Int64(body.count))]))
      }
    ) { [path] _, port in
      #expect(port == 0)
      #expect(try Folder.ownership(of: path.text)?.permissions == 0o600)
      try await RawHTTPClient.run {
        for _ in 0..<4 {
          let client = try RawHTTPClient(path: path)
          try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.count)\r\n\r\n")
          try client.send(body)
          #expect(try client.receiveResponse().body == body)
          try client.send(request())
          #expect(try client.receiveResponse().body == body)
        }
      }
    }
    #expect(try Folder.file(at: path.text) == nil)
  }

  @Test(arguments: [true, false])
  func `clients have the name that a trusted proxy gives them, or unix`(isTrusted: Bool) async throws {
    try await withServer(
      configure: { [path] in
        $0.socketPath = path
        // Addresses say nothing about a Unix socket.
        $0.trustedProxies = [isTrusted ? .unix : TrustedProxy("0.0.0.0/0")].compactMap { $0 }
      },
      handler: { HTTPServerResponse(status: .ok, body: .bytes(Array($0.peer.utf8))) }
    ) { [path] _, _ in
      let peers = try await RawHTTPClient.run {
        let client = try RawHTTPClient(path: path)
        return try [nil, "for=1.2.3.4", "for=unknown", "for=unix"].map { forwarded in
          try client.send(request(forwarded))
          return try client.receiveResponse().text
        }
      }
      #expect(
        peers == (isTrusted ? ["unix", "1.2.3.4", "unknown", "unix"] : ["unix", "unix", "unix", "unix"]))
    }
  }

  @Test(arguments: [true, false])
  func `the limit of each address does not apply to the proxy, but to its socket if it is not trusted`(
    isTrusted: Bool
  ) async throws {
    try await withServer(
      configure: { [path] in
        $0.socketPath = path
        $0.limits.connectionsPerAddress = 2
        if isTrusted { $0.trustedProxies = [.unix] }
      }, handler: { try await echo($0) }
    ) { [path] _, _ in
      let statuses = try await RawHTTPClient.run {
        let clients = try (0..<3).map { _ in try RawHTTPClient(path: path) }
        return try clients.map { client in
          try client.send(request("for=1.2.3.4"))
          return try client.receiveResponse().status
        }
      }
      #expect(statuses == [200, 200, isTrusted ? 200 : 503])
    }
  }

  @Test func `a socket in use, and a file of another kind, give a clear error and remain`() async throws {
    try await withServer(configure: { [path] in $0.socketPath = path }, handler: echo) { [path] _, _ in
      var configuration = HTTPServer.Configuration()
      configuration.socketPath = path
      let other = HTTPServer(
        configuration: configuration, handler: ClosureHandler(body: echo), logger: silentLogger)
      await #expect(throws: HTTPServerError.addressInUse(.unix(path))) { try await other.start() }
      await other.shutdown()
      let isListening = try UnixListener.isListening(path)
      #expect(isListening)
    }
    try Data().write(to: URL(filePath: path.text))
    var configuration = HTTPServer.Configuration()
    configuration.socketPath = path
    let server = HTTPServer(
      configuration: configuration, handler: ClosureHandler(body: echo), logger: silentLogger)
    await #expect {
      try await server.start()
    } throws: {
      "\($0)".contains("is not a socket, and is not replaced")
    }
    #expect(try Folder.file(at: path.text) != nil)
  }
}
