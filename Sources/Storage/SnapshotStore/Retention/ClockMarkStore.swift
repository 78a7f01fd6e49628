public import Foundation
public import SystemIO

/// Stores the mark of the clock by which a store is maintained, beside what the store contains.
public protocol ClockMarkStore: Sendable {
  /// Returns the mark that was saved last; `nil` if there is none, or it is malformed.
  func load() async throws -> ClockMark?
  /// Replaces the stored mark. It is durable when the method returns.
  /// - Returns: when the storage has written it by its own clock, such as that of a file system on another machine.
  func save(_ mark: ClockMark) async throws -> Date
}

/// Why the clock is not believed.
public struct ClockDoubt: Sendable, Hashable, CustomStringConvertible {
  /// What the clock disagrees with.
  public enum Cause: Sendable, Hashable {
    /// The newest time that was believed.
    case mark(Date)
    /// The clock of the storage.
    case storage(Date)
    /// It can't be compared, for the reason in this sentence.
    case unknown(String)
  }

  /// The time that the clock showed.
  public var clock: Date
  /// What it disagrees with.
  public var cause: Cause

  /// What is wrong, and how to proceed.
  public var description: String {
    let time = Self.text(clock)
    return switch cause {
    case .mark(let mark):
      """
      The clock shows \(time), and the last time that is known to be right is \(Self.text(mark)). Nothing is deleted \
      automatically until the clock has run for an hour without another jump. If it is wrong, correct it; if it is right, \
      `snapshot expire --confirm` ends the wait.
      """
    case .storage(let other):
      """
      The clock shows \(time), and that of the storage \(Self.text(other)). Nothing is deleted automatically until they \
      have agreed for an hour. Correct the wrong one; `snapshot expire --confirm` deletes the expired snapshots once.
      """
    case .unknown(let reason):
      "Nothing is deleted automatically, because the clock (\(time)) can't be compared with the storage: \(reason)"
    }
  }

  private static func text(_ time: Date) -> String {
    "\(UTCTime(secondsSince1970: time.timeIntervalSince1970))"
  }
}
