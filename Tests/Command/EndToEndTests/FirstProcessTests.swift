import Foundation
import SystemIO
import TestSupport
import Testing

/// The server as the first process of a container, which the system protects from signals that it does not handle.
@Suite(.enabled("\(SmallDisk.requirement)") { await SmallDisk.isPossible })
struct FirstProcessTests {
  @Test func `a server that waits for its database while it starts ends when it is told to`() async throws {
    let folder = try TemporaryFolder()
    // Accepts connections, and says nothing.
    let database = try #require(try Socket.listeners(at: SocketAddress(.loopback, port: 0), count: 1).first)
    let port = try database.localAddress.port
    let process = try ChildProcess(
      "unshare",
      ["--user", "--map-root-user", "--pid", "--fork", "--kill-child", Product.path]
        + ["serve", "--storage", folder.path, "--port", "0"],
      environment: [
        "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
        "SNAPSHOT_SERVER_SHARED_STORE": "s3://snapshots/test",
        "SNAPSHOT_SERVER_SHARED_ENDPOINT": "http://127.0.0.1:1",
        "SNAPSHOT_SERVER_SHARED_DATABASE": "postgres://snapshot@127.0.0.1:\(port)/snapshot",
      ])
    try await RawHTTPClient.run {
      let poller = try Poller()
      try poller.set(.read, for: database.descriptor)
      try poller.wait(milliseconds: 60_000) { _ in }
    }
    let children = "/proc/\(process.identifier)/task/\(process.identifier)/children"
    let text = try String(contentsOfFile: children, encoding: .utf8)
    let server = try #require(text.split(separator: " ").first.flatMap { Int32($0) })
    kill(server, SIGTERM)
    #expect(await process.waitForEnd() == 128 + SIGTERM)
  }
}
