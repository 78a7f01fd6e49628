import Foundation
import HTTPEngine
import ServiceLifecycle
import SnapshotServer
import SystemIO

/// Runs the server as a service, which shuts down gracefully together with its service group.
struct HTTPService: Service, CustomStringConvertible {
  let application: ServerApplication
  /// How long running requests may continue after the shutdown has begun.
  let shutdown: Duration
  /// Told when the server is ready, and when it stops.
  let state: ServiceState
  /// Run while the server does, and are cancelled then.
  let tasks: [@Sendable () async -> Void]
  /// Called with the address once the server listens there.
  let onListening: @Sendable (URL) -> Void

  /// The name in the log of the service group, which otherwise reflects the whole server to make one.
  var description: String { "HTTPService" }

  func run() async throws {
    onListening(try URL(of: try await application.start(), isSecure: application.certificates != nil))
    state.tell(.ready)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in tasks { group.addTask { await task() } }
      try await withGracefulShutdownHandler {
        try await application.server.run()
      } onGracefulShutdown: {
        state.tell(.stopping)
        Task { await application.server.shutdown(deadline: shutdown) }
      }
      group.cancelAll()
    }
  }
}

extension URL {
  /// The URL of the server at `address`.
  init(of address: SocketAddress, isSecure: Bool = false) throws(CommandFailure) {
    guard let url = URL(string: "\(isSecure ? "https" : "http")://\(address)") else {
      throw CommandFailure("\(address) can't be written as a URL.")
    }
    self = url
  }
}
