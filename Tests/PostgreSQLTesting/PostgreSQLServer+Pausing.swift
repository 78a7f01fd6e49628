import Foundation
import PostgreSQLClient

extension PostgreSQLServer {
  /// Stops all processes of the server, so that it neither answers nor closes a connection. Linux only.
  package func pause() throws { try signal(SIGSTOP) }

  /// Continues after ``pause()``.
  package func resume() throws { try signal(SIGCONT) }

  private func signal(_ signal: Int32) throws {
    // The parent first, so that it starts no process meanwhile.
    kill(identifier, signal)
    let children = try String(
      contentsOfFile: "/proc/\(identifier)/task/\(identifier)/children", encoding: .utf8)
    for child in children.split(separator: " ").compactMap({ Int32($0) }) { kill(child, signal) }
  }
}
