import Dispatch
import HTTPEngine
import HTTPTypes
import SystemIO
import TestSupport
import Testing

/// Responses that are there at once, that wait, and that need a task.
@Suite(.alsoOverTLS, .timeLimit(.minutes(5 * Sanitizer.slowness))) struct HTTPAnswerTests {
  private struct Unexpected: Error {}

  /// Answers each path in another way.
  private struct Handler: HTTPHandler {
    let queue = DispatchQueue(label: "answers")

    func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
      try await answer(to: request).response()
    }

    func answer(to request: HTTPServerRequest) -> HTTPAnswer {
      let response = HTTPServerResponse(status: .ok, body: .bytes(Array(request.path.utf8)))
      return switch request.path {
      case "/problem": .ready(.failure(HTTPProblem.badRequest("no")))
      case "/failure": .ready(.failure(Unexpected()))
      case "/stream":
        .ready(.success(HTTPServerResponse(status: .ok, body: .stream(length: 0) { nil })))
      case "/here": .waiting { $0(.success(response)) }
      case "/elsewhere": .waiting { completion in queue.async { completion(.success(response)) } }
      case "/refused": .waiting { $0(.failure(HTTPProblem.badRequest("no"))) }
      case "/task": .pending { response }
      case "/changed":
        HTTPAnswer.waiting { completion in queue.async { completion(.failure(Unexpected())) } }
          .then { _ in .pending { response } }
      default: .ready(.success(response))
      }
    }
  }

  @Test func `responses are in the order of their requests, however they are made`() async throws {
    let paths = ["/now", "/here", "/elsewhere", "/task", "/changed", "/now", "/elsewhere", "/here", "/task"]
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

  @Test(arguments: [("/problem", 400), ("/failure", 500), ("/refused", 400), ("/stream", 200)])
  func `an error that is there at once becomes a response, and a stream is sent`(
    path: String, status: Int
  ) async throws {
    try await withServer(handler: Handler()) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        for _ in 0..<2 {
          try client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
          #expect(try client.receiveResponse().status == status)
        }
      }
    }
  }

  @Test(arguments: ["/now", "/here", "/elsewhere", "/task", "/changed"])
  func `waiting for the response gives the same`(path: String) async throws {
    let handler = Handler()
    let response = try await handler.respond(to: HTTPServerRequest(method: .get, path: path))
    guard case .bytes(let bytes) = response.body else {
      Issue.record("the response has no bytes")
      return
    }
    #expect(bytes == Array(path.utf8))
    await #expect(throws: Unexpected.self) {
      try await handler.respond(to: HTTPServerRequest(method: .get, path: "/failure"))
    }
  }

  @Test func `a response that is there after its client has left is dropped`() async throws {
    let held = Lock<[@Sendable (HTTPAnswer.Outcome) -> Void]>([])
    let isHeld = DispatchSemaphore(value: 0)
    let handler = HeldAnswers { completion in
      held.withLock { $0.append(completion) }
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
      for completion in held.withLock({ $0 }) { completion(.success(HTTPServerResponse(status: .ok))) }
      await server.pass()
    }
  }

  /// Passes the completions of all its answers to a closure.
  private struct HeldAnswers: HTTPHandler {
    let hold: @Sendable (@escaping @Sendable (HTTPAnswer.Outcome) -> Void) -> Void

    func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
      try await answer(to: request).response()
    }

    func answer(to request: HTTPServerRequest) -> HTTPAnswer { .waiting { hold($0) } }
  }
}
