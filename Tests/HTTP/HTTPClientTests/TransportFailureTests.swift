import Foundation
import HTTPClient
import HTTPTypes
import TestSupport
import Testing

/// Failures during a transfer.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct TransportFailureTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: TransportKind.allCases)
  func `a refused connection is reported as such`(kind: TransportKind) async throws {
    let port = try ScriptedServer.unusedPort()
    await #expect {
      try await kind.make().send(
        HTTPRequest(method: .post, scheme: "http", authority: "127.0.0.1:\(port)", path: "/"),
        body: .bytes(Data("x".utf8)), destination: .memory(limit: 10), timeouts: .init(), events: nil)
    } throws: { error in
      if case .connectionFailed? = error as? TransportError { true } else { false }
    }
  }

  @Test(arguments: TransportKind.allCases)
  func `an interruption within the body keeps the received bytes`(kind: TransportKind) async throws {
    let contents = makeBytes(100_000)
    let file = folder.file("down")
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.write("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n")
      try connection.write(Array(contents))
    }
    await #expect {
      try await kind.make().send(to: server, destination: .file(file, offset: 0))
    } throws: { error in
      if case .interrupted? = error as? TransportError { true } else { false }
    }
    #expect(try Data(contentsOf: file) == contents)
  }

  @Test(arguments: TransportKind.allCases)
  func `a connection that closes without a response is interrupted, not failed`(kind: TransportKind)
    async throws
  {
    let server = try ScriptedServer { connection in try connection.readRequest() }
    await #expect {
      try await kind.make().send(.post, to: server, body: .bytes(Data("x".utf8)))
    } throws: { error in
      if case .interrupted? = error as? TransportError { true } else { false }
    }
    #expect(server.requests.count == 1)
  }

  @Test(arguments: TransportKind.allCases)
  func `a response that is not HTTP is interrupted`(kind: TransportKind) async throws {
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.write("SSH-2.0-OpenSSH_9.2\r\n\r\n")
    }
    await #expect {
      try await kind.make().send(to: server)
    } throws: { error in
      if case .interrupted? = error as? TransportError { true } else { false }
    }
  }

  @Test(arguments: TransportKind.allCases)
  func `a silent server exceeds the idle timeout`(kind: TransportKind) async throws {
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
      try connection.waitForClose()
    }
    var timeouts = TransportTimeouts()
    timeouts.idle = 0.2
    await #expect(throws: TransportError.timedOut) {
      try await kind.make().send(to: server, timeouts: timeouts)
    }
  }

  @Test(arguments: TransportKind.allCases)
  func `a server that sends forever exceeds the total timeout`(kind: TransportKind) async throws {
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.write("HTTP/1.1 200 OK\r\n\r\n")
      while true { try connection.write(Array(repeating: 0, count: 1000)) }
    }
    var timeouts = TransportTimeouts()
    timeouts.total = 0.2
    await #expect(throws: TransportError.timedOut) {
      try await kind.make().send(to: server, destination: .memory(limit: .max), timeouts: timeouts)
    }
  }

  @Test(arguments: TransportKind.allCases)
  func `a body that arrives below the minimum rate times out, although bytes arrive`(kind: TransportKind)
    async throws
  {
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.write("HTTP/1.1 200 OK\r\n\r\n")
      while true { try connection.write(Array(repeating: 0, count: 1000)) }
    }
    var timeouts = TransportTimeouts()
    timeouts.bodyBytesPerSecond = 1e15
    timeouts.bodyWindow = 0.2
    await #expect(throws: TransportError.timedOut) {
      try await kind.make().send(to: server, destination: .memory(limit: .max), timeouts: timeouts)
    }
  }

  @Test(arguments: TransportKind.allCases)
  func `a cancelled download ends immediately`(kind: TransportKind) async throws {
    let hasClosed = Signal()
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
      try connection.waitForClose()
      hasClosed.fire()
    }
    let file = folder.file("down")
    let hasBegun = Signal()
    let transport = kind.make()
    let task = Task {
      try await transport.send(to: server, destination: .file(file, offset: 0)) { event in
        if case .response = event { hasBegun.fire() }
      }
    }
    await hasBegun.wait()
    let start = ContinuousClock.now
    task.cancel()
    #expect(await task.result.failure as? TransportError == .cancelled)
    #expect(ContinuousClock.now - start < Duration.seconds(30).patient)
    await hasClosed.wait()
  }

  @Test(arguments: TransportKind.allCases)
  func `a cancelled upload ends immediately`(kind: TransportKind) async throws {
    let file = try folder.write(makeBytes(3_000_000), to: "up")
    let hasBegun = Signal()
    let server = try ScriptedServer { connection in
      try connection.readHead()
      hasBegun.fire()
      try connection.waitForClose()
    }
    let transport = kind.make()
    let task = Task { try await transport.send(.put, to: server, body: .file(file)) }
    await hasBegun.wait()
    task.cancel()
    #expect(await task.result.failure as? TransportError == .cancelled)
  }

  @Test(arguments: TransportKind.allCases)
  func `a task that is already cancelled sends nothing`(kind: TransportKind) async throws {
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.respond("200 OK")
    }
    let transport = kind.make()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await transport.send(to: server)
    }
    #expect(await task.result.failure as? TransportError == .cancelled)
    #expect(server.requests.isEmpty)
  }

  @Test(arguments: TransportKind.allCases, ["413 Content Too Large", "401 Unauthorized"])
  func `a rejection before the end of the upload is the response`(kind: TransportKind, status: String)
    async throws
  {
    let file = try folder.write(Data(count: 20_000_000), to: "up")
    let server = try ScriptedServer { connection in
      let head = try connection.readHead()
      if head["expect"] == nil { try connection.readBody(100_000) { _ in } }
      try connection.respond(status, body: "no".utf8)
      try connection.linger()
    }
    let response = try await kind.make().send(.put, to: server, body: .file(file))
    #expect(response.head.status.code == Int(status.prefix(3)))
    #expect(response.body == Data("no".utf8))
  }

  @Test(arguments: TransportKind.allCases)
  func `many transfers run at the same time`(kind: TransportKind) async throws {
    let server = try ScriptedServer { connection in
      let head = try connection.readRequest().head
      try connection.respond("200 OK", body: head.target.utf8)
    }
    let transport = kind.make()
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<40 {
        group.addTask {
          try await transport.send(.get, "/\(number)", to: server).body == Data("/\(number)".utf8)
        }
      }
      for try await isRight in group { #expect(isRight) }
    }
    #expect(server.requests.count == 40)
  }

  @Test(arguments: TransportKind.allCases)
  func `a connection is reused`(kind: TransportKind) async throws {
    let server = try ScriptedServer(
      { connection in
        while true {
          try connection.readRequest()
          try connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
      }, { _ in })
    let transport = kind.make()
    for _ in 1...3 { #expect(try await transport.send(to: server).body == Data("ok".utf8)) }
    #expect(server.requests.count == 3)
  }
}
