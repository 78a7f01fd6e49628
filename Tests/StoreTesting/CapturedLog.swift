package import Logging
import SystemIO

/// Keeps what was logged.
package final class CapturedLog: LogHandler, Sendable {
  private let state = Lock<[String]>([])

  /// Creates an empty log.
  package init() {}

  /// Level, message and metadata of each entry.
  package var lines: [String] { state.withLock { $0 } }

  package subscript(metadataKey _: String) -> Logger.Metadata.Value? {
    get { nil }
    set {}
  }
  package var metadata: Logger.Metadata {
    get { [:] }
    set {}
  }
  package var logLevel: Logger.Level {
    get { .trace }
    set {}
  }

  package func log(event: LogEvent) {
    state.withLock { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
  }
}

extension Logger {
  /// A logger that discards its messages.
  package static let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
}
