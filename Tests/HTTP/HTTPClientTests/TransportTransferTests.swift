import Foundation
import HTTPClient
import HTTPTypes
import SystemIO
import TestSupport
import Testing

/// Bodies from and to files.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct TransportTransferTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: TransportKind.allCases)
  func `a large file arrives byte for byte`(kind: TransportKind) async throws {
    let contents = makeBytes(5_000_003)
    let file = try folder.write(contents, to: "up.zip")
    let received = Lock(Data())
    let server = try ScriptedServer { connection in
      let (_, body) = try connection.readRequest()
      received.withLock { $0 = body }
      try connection.respond("201 Created", body: "ok".utf8)
    }
    let log = EventLog()
    let response = try await kind.make().send(.put, to: server, body: .file(file), events: log.record)
    #expect(response.head.status.code == 201)
    #expect(received.withLock { $0 } == contents)
    #expect(server.requests.first?["content-length"] == "5000003")
    #expect(log.progress.last == TransportProgress(completed: 5_000_003, total: 5_000_003))
    #expect(log.progress.map(\.completed) == log.progress.map(\.completed).sorted())
  }

  @Test(arguments: TransportKind.allCases)
  func `bytes in memory are sent with every method that allows a body`(kind: TransportKind) async throws {
    let bodies = Lock([Data]())
    let server = try ScriptedServer { connection in
      let (_, body) = try connection.readRequest()
      bodies.withLock { $0.append(body) }
      try connection.respond("200 OK")
    }
    let transport = kind.make()
    for method in [HTTPRequest.Method.post, .put, .patch] {
      _ = try await transport.send(method, to: server, body: .bytes(Data("body".utf8)))
    }
    #expect(server.requests.map(\.method) == ["POST", "PUT", "PATCH"])
    #expect(bodies.withLock { $0 } == Array(repeating: Data("body".utf8), count: 3))
  }

  @Test(arguments: TransportKind.allCases)
  func `an empty file is an empty body`(kind: TransportKind) async throws {
    let file = try folder.write(Data(), to: "empty")
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.respond("200 OK")
    }
    _ = try await kind.make().send(.put, to: server, body: .file(file))
    #expect(server.requests.first?["content-length"] == "0")
  }

  @Test(
    arguments: TransportKind.allCases,
    [0..<1, 0..<300_000, 1..<300_000, 123_456..<234_567, 299_999..<300_000, 300_000..<300_000])
  func `only the given part of a file is sent`(kind: TransportKind, range: Range<Int64>)
    async throws
  {
    let contents = makeBytes(300_000)
    let file = try folder.write(contents, to: "up.zip")
    let received = Lock(Data())
    let server = try ScriptedServer { connection in
      let (_, body) = try connection.readRequest()
      received.withLock { $0 = body }
      try connection.respond("204 No Content")
    }
    _ = try await kind.make().send(.patch, to: server, body: .part(of: file, range))
    #expect(received.withLock { $0 } == contents[Int(range.lowerBound)..<Int(range.upperBound)])
    #expect(server.requests.first?["content-length"] == "\(range.count)")
  }

  @Test(arguments: TransportKind.allCases, [0..<11, 10..<11, 11..<11, -1..<5] as [Range<Int64>])
  func `a part beyond the end of a file is rejected`(kind: TransportKind, range: Range<Int64>) async throws {
    let file = try folder.write(makeBytes(10), to: "up.zip")
    let server = try ScriptedServer()
    await #expect {
      try await kind.make().send(.patch, to: server, body: .part(of: file, range))
    } throws: { error in
      if case .file? = error as? TransportError { true } else { false }
    }
    #expect(server.requests.isEmpty)
  }

  @Test(arguments: TransportKind.allCases)
  func `a missing file and a folder are rejected as bodies`(kind: TransportKind) async throws {
    let server = try ScriptedServer()
    for url in [folder.file("missing"), folder.url] {
      await #expect {
        try await kind.make().send(.put, to: server, body: .file(url))
      } throws: { error in
        if case .file? = error as? TransportError { true } else { false }
      }
    }
  }

  @Test(arguments: TransportKind.allCases)
  func `status 200 replaces the whole file`(kind: TransportKind) async throws {
    let contents = makeBytes(300_000)
    let file = try folder.write(Data(repeating: 1, count: 400_000), to: "down")
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.respond("200 OK", body: contents)
    }
    let log = EventLog()
    let response = try await kind.make().send(
      to: server, destination: .file(file, offset: 200_000), events: log.record)
    #expect(response.body.isEmpty)
    #expect(try Data(contentsOf: file) == contents)
    #expect(log.progress.last == TransportProgress(completed: 300_000, total: 300_000))
    #expect(log.progress.map(\.completed) == log.progress.map(\.completed).sorted())
    #expect(log.responses.count == 1)
  }

  @Test(arguments: TransportKind.allCases)
  func `status 206 continues at the offset`(kind: TransportKind) async throws {
    let contents = makeBytes(300_000)
    let file = try folder.write(contents.prefix(100_000) + Data(repeating: 1, count: 999), to: "down")
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.respond(
        "206 Partial Content", ["Content-Range: bytes 100000-299999/300000"],
        body: contents.dropFirst(100_000))
    }
    let log = EventLog()
    _ = try await kind.make().send(
      to: server, fields: [.range: "bytes=100000-"], destination: .file(file, offset: 100_000),
      events: log.record)
    #expect(try Data(contentsOf: file) == contents)
    #expect(log.progress.first.map { $0.completed >= 100_000 } == true)
    #expect(log.progress.last == TransportProgress(completed: 300_000, total: 300_000))
  }

  @Test(
    arguments: TransportKind.allCases,
    [
      "Content-Range: bytes 5-9/20", "Content-Range: bytes */20",
      "Content-Type: multipart/byteranges; boundary=x",
    ])
  func `status 206 with another range does not change the file`(kind: TransportKind, field: String)
    async throws
  {
    let file = try folder.write(Data("0123456789".utf8), to: "down")
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.respond("206 Partial Content", [field], body: "xxxxx".utf8)
    }
    await #expect(throws: TransportError.unexpectedRange) {
      try await kind.make().send(to: server, destination: .file(file, offset: 10))
    }
    #expect(try Data(contentsOf: file) == Data("0123456789".utf8))
  }

  @Test(arguments: TransportKind.allCases)
  func `another status does not change the file, and its body stays in memory`(kind: TransportKind)
    async throws
  {
    let file = try folder.write(Data("old".utf8), to: "down")
    let body = Data(repeating: 0x61, count: TransportLimits.problemBytes + 1)
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.respond("404 Not Found", body: body)
    }
    let response = try await kind.make().send(to: server, destination: .file(file, offset: 3))
    #expect(response.head.status.code == 404)
    #expect(response.body == body.dropLast())
    #expect(try Data(contentsOf: file) == Data("old".utf8))
  }

  @Test(arguments: TransportKind.allCases, [-1, 0, 1])
  func `a discarded body has a size limit`(kind: TransportKind, difference: Int) async throws {
    let file = folder.file("down")
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.respond("500 Oops", body: Data(count: TransportLimits.discardedBytes + difference))
    }
    let result = await outcome { () async throws(TransportError) in
      try await kind.make().send(to: server, destination: .file(file, offset: 0)).head.status.code
    }
    let limit = Int64(TransportLimits.discardedBytes)
    #expect(result == (difference <= 0 ? .success(500) : .failure(.responseTooLarge(limit: limit))))
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  @Test(arguments: TransportKind.allCases)
  func `an offset past the end of the file is rejected`(kind: TransportKind) async throws {
    let file = try folder.write(Data("old".utf8), to: "down")
    let server = try ScriptedServer()
    await #expect {
      try await kind.make().send(to: server, destination: .file(file, offset: 4))
    } throws: { error in
      if case .file? = error as? TransportError { true } else { false }
    }
  }

  @Test(arguments: TransportKind.allCases, [(99, true), (100, true), (101, false)])
  func `a response in memory has a size limit`(kind: TransportKind, size: (count: Int, fits: Bool))
    async throws
  {
    let body = makeBytes(size.count)
    for isDeclared in [true, false] {
      let server = try ScriptedServer { connection in
        try connection.readRequest()
        let length = isDeclared ? "Content-Length: \(body.count)\r\n" : ""
        try connection.write("HTTP/1.1 200 OK\r\n\(length)Connection: close\r\n\r\n")
        try connection.write(Array(body))
      }
      let result = await outcome { () async throws(TransportError) in
        try await kind.make().send(to: server, destination: .memory(limit: 100)).body
      }
      #expect(result == (size.fits ? .success(body) : .failure(.responseTooLarge(limit: 100))))
    }
  }

  @Test(arguments: TransportKind.allCases, [(99, true), (100, true), (101, false)])
  func `a response in a file has a size limit`(kind: TransportKind, size: (count: Int, fits: Bool))
    async throws
  {
    let body = makeBytes(size.count)
    let file = folder.file("down")
    for isDeclared in [true, false] {
      let server = try ScriptedServer { connection in
        try connection.readRequest()
        let length = isDeclared ? "Content-Length: \(body.count)\r\n" : ""
        try connection.write("HTTP/1.1 200 OK\r\n\(length)Connection: close\r\n\r\n")
        try connection.write(Array(body))
      }
      let result = await outcome { () async throws(TransportError) in
        try await kind.make().send(to: server, destination: .file(file, offset: 0, limit: 100)).head.status
          .code
      }
      #expect(result == (size.fits ? .success(200) : .failure(.responseTooLarge(limit: 100))))
    }
  }
}
