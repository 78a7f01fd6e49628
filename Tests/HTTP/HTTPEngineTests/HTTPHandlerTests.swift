import Dispatch
import HTTPEngine
import HTTPTypes
import SystemIO
import TestSupport
import Testing

/// Handlers that respond without waiting, and that wait for something first.
@Suite(.alsoOverTLS, .timeLimit(.minutes(5 * Sanitizer.slowness))) struct HTTPHandlerTests {
  private struct Unexpected: Error {}

  /// Responds to each path in another way.
  private struct Handler: HTTPHandler {
    let queue = DispatchQueue(label: "responses")

    func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
      let path = request.path
      if path.hasPrefix("/later") { await queue.perform {} }
      if path.hasSuffix("task") { await Task.yield() }
      if path.hasSuffix("problem") { throw HTTPProblem.badRequest("no") }
      if path.hasSuffix("failure") { throw Unexpected() }
      if path.hasSuffix("stream") { return HTTPServerResponse(status: .ok, body: .stream(length: 0) { nil }) }
      return HTTPServerResponse(status: .ok, body: .bytes(Array(path.utf8)))
    }
  }

  @Test func `responses are in the order of their requests, however long they take`() async throws {
    let paths = ["/now", "/later", "/task", "/later/task", "/now", "/later"]
    try await withServer(handler: Handler()) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        let all = (0..<20).flatMap { _ in paths }
        try client.send(all.map { "GET \($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
        for path in all {
          let response = try client.receiveResponse()
          #expect(response.status == 200)
          #expect(response.body == Array(path.utf8))
        }
      }
    }
  }

  @Test(
    arguments: ["", "/later"], [("/problem", 400), ("/failure", 500), ("/stream", 200)])
  func `an error becomes a response, and a stream is sent, before and after a wait`(
    prefix: String, end: (path: String, status: Int)
  ) async throws {
    try await withServer(handler: Handler()) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        for _ in 0..<2 {
          try client.send("GET \(prefix)\(end.path) HTTP/1.1\r\nHost: a\r\n\r\n")
          #expect(try client.receiveResponse().status == end.status)
        }
      }
    }
  }

  @Test func `a handler that never waits responds on the thread on which it began`() async throws {
    let threads = Lock<[UInt]>([])
    let handler = Noting { threads.withLock { $0.append(CurrentThread.id) } }
    try await withServer(handler: handler) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        for _ in 0..<3 {
          try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
          #expect(try client.receiveResponse().status == 200)
        }
      }
    }
    #expect(Set(threads.value).count == 1 && threads.value.count == 3)
  }

  @Test func `a response that is there after its client has left is dropped`() async throws {
    let held = Lock<[CheckedContinuation<Void, Never>]>([])
    let isHeld = DispatchSemaphore(value: 0)
    let handler = Holding { continuation in
      held.withLock { $0.append(continuation) }
      isHeld.signal()
    }
    try await withServer(handler: handler) { server, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        isHeld.wait()
        client.reset()
      }
      while server.openConnections > 0 { await server.pass() }
      for continuation in held.exchange([]) { continuation.resume() }
      await server.pass()
    }
  }

  /// Calls a closure for each request, and responds without waiting.
  private struct Noting: HTTPHandler {
    let act: @Sendable () -> Void

    func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
      act()
      return HTTPServerResponse(status: .ok)
    }
  }

  /// Passes a continuation for which each response waits to a closure.
  private struct Holding: HTTPHandler {
    let hold: @Sendable (CheckedContinuation<Void, Never>) -> Void

    func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
      await withCheckedContinuation { hold($0) }
      return HTTPServerResponse(status: .ok)
    }
  }
}
