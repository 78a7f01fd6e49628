import Foundation
import TestSupport
import Testing

/// Tests of the program that external test suites run against.
@Suite struct EchoServerTests {
  /// Runs `body` with a client of a server for `root`, and terminates the server with the signal that a shell sends.
  private func withEchoServer(
    root: URL? = nil, _ body: @escaping @Sendable (RawHTTPClient) throws -> Void
  ) async throws {
    let program = try await RunningProgram(
      Tool.products.appending(path: "echo-server").path,
      ["--port", "0"] + (root.map { ["--root", $0.path] } ?? []))
    let port = try #require(
      program.firstLine.split(separator: ":").last.flatMap { UInt16($0) }, "\(program.firstLine)")
    #expect(program.firstLine == "Listening on http://127.0.0.1:\(port)")
    try await RawHTTPClient.run { try body(RawHTTPClient(port: port)) }
    #expect(await program.stop() == 0)
  }

  @Test func `GET gets a response, POST is echoed, and SIGTERM ends the program`() async throws {
    try await withEchoServer { client in
      try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try client.receiveResponse().status == 200)
      for size in [0, 5, 64 * 1024, 200_000] {
        let body = repeatedPattern(size)
        try client.send(
          "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: x/y\r\nContent-Length: \(size)\r\n\r\n")
        try client.send(body)
        let response = try client.receiveResponse()
        #expect(response.field("Content-Type") == "x/y")
        #expect(response.body == body)
      }
      try client.send("DELETE / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try client.receiveResponse().field("Allow") == "GET, HEAD, OPTIONS, POST")
      try client.send("GET /static/x HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try client.receiveResponse().status == 404)
    }
  }

  @Test func `files are served with validators, ranges and conditions`() async throws {
    let folder = try TemporaryFolder()
    try folder.write(Data("0123456789".utf8), to: "root/sub/a b.txt")
    try await withEchoServer(root: folder.file("root")) { client in
      func get(_ method: String = "GET", _ fields: String = "") throws -> RawHTTPClient.Response {
        try client.send("\(method) /static/sub/a%20b.txt HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
        return try client.receiveResponse(toHEAD: method == "HEAD")
      }
      let whole = try get()
      #expect(whole.text == "0123456789")
      #expect(whole.field("Content-Type") == "text/plain; charset=utf-8")
      #expect(whole.field("Accept-Ranges") == "bytes")
      let tag = try #require(whole.field("ETag"))
      #expect(try get("HEAD").field("Content-Length") == "10")
      #expect(try get("GET", "Range: bytes=2-4\r\n").text == "234")
      #expect(try get("GET", "Range: bytes=2-4\r\nIf-Range: \(tag)\r\n").status == 206)
      #expect(try get("GET", "Range: bytes=2-4\r\nIf-Range: \"x\"\r\n").status == 200)
      #expect(try get("GET", "Range: bytes=10-\r\n").field("Content-Range") == "bytes */10")
      #expect(try get("GET", "If-None-Match: \(tag)\r\n").status == 304)
      #expect(try get("GET", "If-Match: \"x\"\r\n").status == 412)
    }
  }

  @Test func `no path leads outside the root`() async throws {
    let folder = try TemporaryFolder()
    try folder.write(Data("secret".utf8), to: "secret")
    try folder.write(Data("public".utf8), to: "root/sub/file")
    let root = folder.file("root")
    let files = FileManager.default
    try files.createSymbolicLink(at: root.appending(path: "link"), withDestinationURL: folder.file("secret"))
    try files.createSymbolicLink(at: root.appending(path: "up"), withDestinationURL: folder.file("."))
    try files.createSymbolicLink(
      at: root.appending(path: "inner"), withDestinationURL: root.appending(path: "sub"))
    try await withEchoServer(root: root) { client in
      for (path, status) in [
        ("sub/file", 200), ("../secret", 400), ("sub/../sub/file", 400), ("%2e%2e/secret", 400),
        (".%2E/secret", 400), ("./sub/file", 400), ("..%2fsecret", 404), ("%2e%2e%2fsecret", 404),
        ("sub%2ffile", 404), ("sub%2Ffile", 404), ("%252e%252e/secret", 404), ("..%5csecret", 404),
        ("sub//file", 404), ("/sub/file", 404), ("sub/file/", 404), ("sub", 404), ("sub/", 404), ("", 404),
        ("link", 404), ("up/secret", 404), ("inner/file", 404), ("file%00", 400), ("%00", 400),
        ("sub/%ff", 400),
        ("sub/...", 404), ("%2Fetc%2Fpasswd", 404), ("//etc/passwd", 404),
      ] {
        try client.send("GET /static/\(path) HTTP/1.1\r\nHost: a\r\n\r\n")
        let response = try client.receiveResponse()
        #expect(response.status == status, "\(path)")
        #expect(!response.text.contains("secret"), "\(path)")
      }
    }
  }
}
