import SystemIO

/// What a command does when a signal ends it: it removes its temporary files, and says how to go on.
enum Interruption {
  private static let words = Lock<String?>(nil)

  /// Handles the signals from now on. For commands other than servers, which stop in their own way.
  static func handle() {
    ProcessSignals.onInterruption { number in
      TemporaryPaths.removeAll {
        if let words = words.withLock(\.self) { Console.message(words) }
        ProcessSignals.end(by: number)
      }
    }
  }

  /// Sets the line that is written to stderr when a signal ends the command.
  static func say(_ line: String?) { words.withLock { $0 = line } }
}
