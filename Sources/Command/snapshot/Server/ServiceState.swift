import HTTPEngine
import Logging
import SystemIO

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
