import Foundation
import HTTPEngine
import ServiceLifecycle

/// An HTTP server as a service: it says where it listens, and shuts down gracefully when the group does.
struct HTTPService: Service {
  let server: HTTPServer
  /// How long running requests may take to end.
  let shutdown: Duration
  /// Told the address once the server answers there.
  let onListening: @Sendable (URL) -> Void

  func run() async throws {
    let url = try await server.startServing()
    onListening(url)
    try await withGracefulShutdownHandler {
      try await server.run()
    } onGracefulShutdown: {
      Task { await server.shutdown(deadline: shutdown) }
    }
  }
}

extension HTTPServer {
  /// Listens, and answers at which URL.
  func startServing() async throws -> URL {
    let address = try await start()
    guard let url = URL(string: "http://\(address)") else {
      throw CommandFailure("\(address) is no address that a URL can hold.")
    }
    return url
  }

  /// Serves while `body` runs.
  func serving(_ body: (URL) async throws -> Void) async throws {
    let url = try await startServing()
    do {
      try await body(url)
    } catch {
      await shutdown(deadline: .zero)
      throw error
    }
    await shutdown(deadline: .seconds(5))
  }
}
