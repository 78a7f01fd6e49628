import SystemIO

/// What a command does when a signal ends it: it removes its temporary files, and says how to go on.
enum Interruption {
  private static let words = Lock<String?>(nil)
  private static let stop = Lock<(@Sendable () -> Void)?>(nil)

  /// Handles the signals from now on. For commands other than servers, which stop in their own way.
  static func handle() {
    ProcessSignals.onInterruption { number in
      if let stop = stop.exchange(nil) { return stop() }
      TemporaryPaths.removeAll {
        if let words = words.withLock(\.self) { Console.message(words) }
        ProcessSignals.end(by: number)
      }
    }
  }

  /// Lets the next signal call `body` instead of ending the command. Another signal ends it.
  static func stop(by body: @escaping @Sendable () -> Void) { stop.set(body) }

  /// Sets the line that is written to stderr when a signal ends the command.
  static func say(_ line: String?) { words.withLock { $0 = line } }
}
