import Foundation
import SystemIO

/// What a command does when a signal ends it: it removes its temporary files, and says how to go on.
enum Interruption {
  private static let words = Lock<String?>(nil)
  private static let stop = Lock<(@Sendable () -> Void)?>(nil)
  private static let program = Lock<ChildProgram?>(nil)

  /// Handles the signals from now on. For commands other than servers, which stop in their own way.
  static func handle() {
    ProcessSignals.onInterruption { number in
      if let stop = stop.exchange(nil) { return stop() }
      if let program = program.withLock(\.self) {
        // The command ends when the program does.
        if number == SIGTERM || !ChildProgram.isInForeground { program.signal(number) }
        return
      }
      TemporaryPaths.removeAll {
        if let words = words.withLock(\.self) { Console.message(words) }
        ProcessSignals.end(by: number)
      }
    }
  }

  /// Lets the next signal call `body` instead of ending the command. Another signal ends it.
  static func stop(by body: @escaping @Sendable () -> Void) { stop.set(body) }

  /// Starts a program, and passes signals on to it from then on, which the terminal does itself for those that it sends.
  /// A signal that comes while it starts waits.
  static func start(
    _ make: () throws(SystemError) -> ChildProgram
  ) throws(SystemError) -> ChildProgram {
    try program.withLock { program throws(SystemError) in
      let started = try make()
      program = started
      return started
    }
  }

  /// Handles signals again, when the program has ended.
  static func finish() { program.withLock { $0 = nil } }

  /// Sets the line that is written to stderr when a signal ends the command.
  static func say(_ line: String?) { words.withLock { $0 = line } }
}
