import Foundation
import Logging
import SnapshotServer
import SystemIO

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Reads the settings of a running server again and applies them, all or none.
final class SettingsReload: Sendable {
  private let source: SettingsSource
  private let current: Lock<ReadSettings>
  private let application: ServerApplication
  private let parts: [ReloadablePart]
  private let logger: Logger

  /// - Parameters:
  ///   - source: where the settings are read again.
  ///   - current: the settings that the server was started with.
  ///   - parts: what else takes new settings, besides the server.
  init(
    _ source: SettingsSource, _ current: ReadSettings, _ application: ServerApplication,
    parts: [ReloadablePart], logger: Logger
  ) {
    self.source = source
    self.current = Lock(current)
    self.application = application
    self.parts = parts
    self.logger = logger
  }

  /// Handles SIGHUP: reads the settings again, or ends the server if its terminal was closed.
  func hangUp() async {
    if Console.errorIsTerminal, isatty(STDERR_FILENO) != 1 {
      kill(getpid(), SIGTERM)
    } else {
      await run()
    }
  }

  /// Reads the settings again. If they are invalid, nothing changes. Logs what was changed, what needs a restart, and
  /// errors. Calls must not overlap.
  func run() async {
    let change: SettingsChange
    do {
      change = SettingsChange(from: current.withLock { $0 }, to: try source.read())
      // Also if no setting has changed, since a file that a setting names can have other contents.
      try await application.reload(change.settings.settings, with: parts)
    } catch {
      logger.error("The settings are invalid, and nothing was changed", metadata: ["error": "\(error)"])
      return
    }
    current.withLock { $0 = change.settings }
    for item in change.now {
      logger.notice(
        "A setting was changed",
        metadata: ["setting": "\(item.name)", "from": "\(item.logged.former)", "to": "\(item.logged.new)"])
    }
    for item in change.later {
      logger.warning(
        "A setting needs a restart",
        metadata: [
          "setting": "\(item.name)", "running": "\(item.logged.former)", "read": "\(item.logged.new)",
        ])
    }
    logger.notice(
      "The settings were read again",
      metadata: ["changed": "\(change.now.count)", "needRestart": "\(change.later.count)"])
  }
}
