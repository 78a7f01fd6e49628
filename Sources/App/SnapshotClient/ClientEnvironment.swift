public import Foundation

/// Time and chance, as the client sees them.
public struct ClientEnvironment: Sendable {
  /// The time, to understand `Retry-After` where it is a date.
  public var now: @Sendable () -> Date
  /// Waits, and throws when the task is cancelled meanwhile.
  public var sleep: @Sendable (Duration) async throws -> Void
  /// A number from 0 up to, but not including, 1.
  public var random: @Sendable () -> Double

  /// An environment by its parts; without any, the real one.
  public init(
    now: @escaping @Sendable () -> Date = { Date() },
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
  ) {
    self.now = now
    self.sleep = sleep
    self.random = random
  }
}
