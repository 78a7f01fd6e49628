import HTTPEngine
import HTTPTypes
import Logging
import Synchronization
import SystemIO
import TestSupport

/// A handler made of a closure.
struct ClosureHandler: HTTPHandler {
  let body: @Sendable (HTTPServerRequest) async throws -> HTTPServerResponse
  func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse { try await body(request) }
}

/// Runs a server on a free port of the loopback address while `body` runs, and shuts it down afterwards.
func withServer<Result: Sendable>(
  configure: (inout HTTPServer.Configuration) -> Void = { _ in },
  handler: @escaping @Sendable (HTTPServerRequest) async throws -> HTTPServerResponse,
  _ body: (HTTPServer, UInt16) async throws -> Result
) async throws -> Result {
  var configuration = HTTPServer.Configuration(port: 0)
  configuration.eventLoops = 2
  configure(&configuration)
  var logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
  logger.logLevel = .critical
  let server = HTTPServer(
    configuration: configuration, handler: ClosureHandler(body: handler), logger: logger)
  let address = try await server.start()
  do {
    let result = try await body(server, address.port)
    await server.shutdown(deadline: .zero)
    return result
  } catch {
    await server.shutdown(deadline: .zero)
    throw error
  }
}

/// Answers `/` with a greeting and any body with itself.
@Sendable func echo(_ request: HTTPServerRequest) async throws -> HTTPServerResponse {
  let bytes = try await request.body.collect(upTo: 1 << 30)
  return HTTPServerResponse(
    status: .ok, headerFields: [.contentType: "text/plain"],
    body: .bytes(bytes.isEmpty ? Array("\(request.method) \(request.path)".utf8) : bytes))
}

/// Counts, from any thread.
final class Counter: Sendable {
  private let state = Mutex(0)
  var value: Int { state.withLock { $0 } }
  func add(_ more: Int = 1) { state.withLock { $0 += more } }
}

/// Something that happens once, waited for by tasks.
final class Gate: Sendable {
  private let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
  func open() { continuation.finish() }
  func wait() async { for await _ in stream {} }
}
