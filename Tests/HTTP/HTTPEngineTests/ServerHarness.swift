import Foundation
import HTTPEngine
import HTTPTLS
import HTTPTypes
import Logging
import SystemIO
import TestSupport
import Testing

/// A handler that calls a closure.
struct ClosureHandler: HTTPHandler {
  let body: @Sendable (HTTPServerRequest) async throws -> HTTPServerResponse
  func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse { try await body(request) }
}

/// A logger that discards everything.
let silentLogger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

/// Runs a server on a free port of the loopback address while `body` runs, and shuts it down after that.
func withServer<Result: Sendable>(
  configure: (inout HTTPServer.Configuration) -> Void = { _ in },
  handler: @escaping @Sendable (HTTPServerRequest) async throws -> HTTPServerResponse,
  _ body: (HTTPServer, UInt16) async throws -> Result
) async throws -> Result {
  try await withServer(configure: configure, handler: ClosureHandler(body: handler), body)
}

/// The same for any handler.
func withServer<Result: Sendable>(
  configure: (inout HTTPServer.Configuration) -> Void = { _ in }, handler: some HTTPHandler,
  _ body: (HTTPServer, UInt16) async throws -> Result
) async throws -> Result {
  var configuration = HTTPServer.Configuration(port: 0)
  // Each loop occupies a thread of Dispatch, which has 255 for all servers of all tests that run concurrently.
  configuration.eventLoops = 1
  // The time limits only apply in tests that set them, so that a busy machine does not affect other tests.
  configuration.limits.handshakeTime = .seconds(600)
  configuration.limits.headTime = .seconds(600)
  configuration.limits.bodyGrace = .seconds(600)
  configuration.limits.idleTime = .seconds(600)
  configuration.limits.writeStallTime = .seconds(600)
  if RawHTTPClient.usesTLS { configuration.security = try TestCertificate.shared.get().server }
  configure(&configuration)
  let server = HTTPServer(configuration: configuration, handler: handler, logger: silentLogger)
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

/// Responds to `/` with a greeting, and to any body with the same body.
@Sendable func echo(_ request: HTTPServerRequest) async throws -> HTTPServerResponse {
  let bytes = try await request.body.collect(upTo: 1 << 30)
  return HTTPServerResponse(
    status: .ok, headerFields: [.contentType: "text/plain"],
    body: .bytes(bytes.isEmpty ? Array("\(request.method) \(request.path)".utf8) : bytes))
}

/// A thread-safe counter.
final class Counter: Sendable {
  private let state = Lock(0)
  var value: Int { state.withLock { $0 } }
  func add(_ more: Int = 1) { state.withLock { $0 += more } }
}

/// Returns bytes in which missing, duplicate or misplaced pieces are detectable, because the period is a prime.
func repeatedPattern(_ count: Int) -> [UInt8] {
  let period = (0..<10_007).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
  var bytes: [UInt8] = []
  while bytes.count < count { bytes += period }
  return Array(bytes[..<count])
}

/// A certificate for all tests of the process.
struct TestCertificate: Sendable {
  static let shared = Result { try TestCertificate() }

  let files: TLSFiles
  let server: TLSServer
  private let folder: TemporaryFolder

  private init() throws {
    folder = try TemporaryFolder()
    files = try folder.writeCertificate(names: ["localhost", "127.0.0.1"])
    server = try TLSServer(TLSConfiguration(files: [files]))
  }
}

extension TemporaryFolder {
  /// Writes a new self-signed certificate and its key.
  func writeCertificate(names: [String], as name: String = "server") throws -> TLSFiles {
    let made = try SelfSignedCertificate.make(names: names)
    return TLSFiles(
      certificate: try write(Data(made.certificate), to: "\(name).pem").path,
      key: try write(Data(made.key), to: "\(name).key").path)
  }
}

/// Runs every test of a suite twice: with plain connections, and with TLS.
struct AlsoOverTLS: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await function()
    try await RawHTTPClient.$usesTLS.withValue(true) { try await function() }
  }
}

extension Trait where Self == AlsoOverTLS {
  static var alsoOverTLS: Self { AlsoOverTLS() }
}
