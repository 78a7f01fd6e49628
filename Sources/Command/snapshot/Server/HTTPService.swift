import Foundation
import HTTPEngine
import Logging
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
  /// Called with the address for people once the server listens there: a URL, or that of a Unix socket.
  let onListening: @Sendable (String) -> Void

  /// The name in the log of the service group, which otherwise reflects the whole server to make one.
  var description: String { "HTTPService" }

  func run() async throws {
    let address = try await application.start()
    if case .unix = address {
      onListening("\(address)")
    } else {
      onListening(try URL(of: address, isSecure: application.certificates != nil).absoluteString)
    }
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
  init(of address: ListenAddress, isSecure: Bool = false) throws(CommandFailure) {
    guard case .network = address, let url = URL(string: "\(isSecure ? "https" : "http")://\(address)") else {
      throw CommandFailure("\(address) can't be written as a URL.")
    }
    self = url
  }
}

/// Tells the service manager about the state of the server. Failures are logged, and change nothing.
struct ServiceState: Sendable {
  let manager: ServiceManager
  let logger: Logger

  func tell(_ state: ServiceManager.State) {
    do {
      try manager.tell(state)
    } catch {
      logger.warning(
        "The service manager can't be told the state", metadata: ["state": "\(state)", "error": "\(error)"])
    }
  }

  /// Tells regularly that the server works, if the service manager expects it, until the task is cancelled. An event
  /// loop that hangs ends that.
  func watch(_ server: HTTPServer) async {
    guard let interval = manager.watchdogInterval else { return }
    while !Task.isCancelled {
      await server.pass()
      tell(.alive)
      do { try await Task.sleep(for: interval / 3) } catch { return }
    }
  }
}
