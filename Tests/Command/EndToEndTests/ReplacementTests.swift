import Foundation
import SystemIO
import TestSupport
import Testing

/// The server as a service: sockets that a service manager has opened, and messages to it.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct ReplacementTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Starts `program` as a service manager with `listener` does.
  private func start(
    _ program: String, _ listener: Socket, environment: [String: String] = [:]
  ) async throws -> RunningProgram {
    try await RunningProgram(
      "sh",
      [
        "-c", "LISTEN_PID=$$ exec \"$0\" \"$@\"", program, "serve", "--port", "1", "--storage",
        folder.file("storage").path,
      ], environment: ["LISTEN_FDS": "1"].merging(environment) { $1 }, inherited: [listener.descriptor])
  }

  /// Counts requests and those that failed, until it ends.
  private final class Load: Sendable {
    struct Result { var requests = 0, failures: [String] = [] }

    private let state = Lock((result: Result(), isOver: false))

    var isOver: Bool { state.withLock(\.isOver) }
    var result: Result { state.withLock(\.result) }
    func end() { state.withLock { $0.isOver = true } }

    private func count(_ failure: String?) {
      state.withLock { state in
        state.result.requests += 1
        if let failure { state.result.failures.append(failure) }
      }
    }

    /// Sends requests, each on a connection of its own or on one that is kept as long as the server keeps it.
    func run(port: UInt16, keepsConnections: Bool) async throws {
      try await RawHTTPClient.run { [self] in
        var kept: RawHTTPClient?
        while !isOver {
          do {
            let client = try kept ?? RawHTTPClient(port: port)
            let close = keepsConnections ? "" : "Connection: close\r\n"
            try client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\(close)\r\n")
            let response = try client.receiveResponse()
            kept = keepsConnections && response.field("Connection") != "close" ? client : nil
            count(response.status == 200 ? nil : "\(response.status)")
          } catch {
            kept = nil
            count("\(error)")
          }
        }
      }
    }
  }

  @Test func `no request fails while the program is replaced under load`() async throws {
    let listener = try #require(try Socket.listeners(at: SocketAddress(.loopback, port: 0), count: 1).first)
    let port = try listener.localAddress.port
    let program = folder.file("snapshot")
    try FileManager.default.createSymbolicLink(at: program, withDestinationURL: URL(filePath: Product.path))
    var server = try await start(program.path, listener)
    #expect(server.firstLine == "Listening on http://127.0.0.1:\(port)")
    let load = Load()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<8 {
        group.addTask { try await load.run(port: port, keepsConnections: index % 2 == 0) }
      }
      for _ in 0..<3 {
        let before = load.result.requests
        while load.result.requests < before + 100 { await Task.yield() }
        // As a package manager does it: the new file takes the name, then the service is restarted.
        let new = folder.file("new")
        try FileManager.default.createSymbolicLink(at: new, withDestinationURL: URL(filePath: Product.path))
        try Folder.replace(program.path, with: new.path)
        #expect(await server.stop() == 0)
        server = try await start(program.path, listener)
      }
      let before = load.result.requests
      while load.result.requests < before + 100 { await Task.yield() }
      load.end()
      try await group.waitForAll()
    }
    #expect(load.result.failures.isEmpty)
    #expect(load.result.requests >= 400)
    await server.stop()
  }

  @Test func `the service manager is told when the server is ready, reloads, works and stops`() async throws {
    let manager = try NotifySocket(in: folder)
    let messages = manager.messages()
    let server = try await TestServer(
      storage: folder.file("storage"),
      environment: ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "300000"])
    #expect(try await messages.wait(for: "READY=1").isEmpty)
    for _ in 0..<2 { _ = try await messages.wait(for: "WATCHDOG=1") }
    server.program.signal(SIGHUP)
    _ = try await messages.wait(for: "RELOADING=1\nMONOTONIC_USEC=")
    #expect(try await messages.wait(for: "READY=1").allSatisfy { $0 == "WATCHDOG=1" })
    #expect(await server.program.stop() == 0)
    _ = try await messages.wait(for: "STOPPING=1")
  }

  @Test(arguments: [("0", "1 to 16 sockets"), ("17", "1 to 16 sockets"), ("x", "1 to 16 sockets")])
  func `an invalid number of sockets is refused`(count: String, words: String) async throws {
    let listener = try #require(try Socket.listeners(at: SocketAddress(.loopback, port: 0), count: 1).first)
    await #expect { try await start(Product.path, listener, environment: ["LISTEN_FDS": count]) } throws: {
      ($0 as? RunningProgram.Failure)?.errors.contains(words) == true
    }
  }

  @Test func `a descriptor that is no listening socket is refused`() async throws {
    let file = try File(folder.file("file").path, .create(mode: 0o600))
    await #expect {
      try await RunningProgram(
        "sh",
        [
          "-c", "LISTEN_PID=$$ exec \"$0\" \"$@\"", Product.path, "serve", "--storage", folder.file("s").path,
        ],
        environment: ["LISTEN_FDS": "1"], inherited: [file.descriptor])
    } throws: {
      ($0 as? RunningProgram.Failure)?.errors.contains("is not a TCP or Unix socket that listens") == true
    }
  }

  @Test func `a socket on another address than loopback needs a token`() async throws {
    let address = try #require(SocketAddress(host: "0.0.0.0", port: 0))
    let listener = try #require(try Socket.listeners(at: address, count: 1).first)
    await #expect { try await start(Product.path, listener) } throws: {
      ($0 as? RunningProgram.Failure)?.errors.contains("There is no token yet") == true
    }
  }

  @Test func `sockets for another process are not used`() async throws {
    let server = try await TestServer(
      storage: folder.file("storage"), environment: ["LISTEN_FDS": "99", "LISTEN_PID": "1"])
    #expect(try await Curl([server.address("/healthz")]).status == 200)
  }
}
