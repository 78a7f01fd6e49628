/// An event that happens at most once, and that tasks can wait for.
public final class Signal: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  /// Creates a signal that was not fired.
  public init() { (stream, continuation) = AsyncStream.makeStream() }

  /// Fires the signal. Later calls have no effect.
  public func fire() { continuation.finish() }

  /// Waits until the signal is fired or the task is cancelled.
  public func wait() async { for await _ in stream {} }

  /// Fires the signal, waits until the task is cancelled, and throws a `CancellationError`.
  public func fireUntilCancelled() async throws {
    fire()
    try await Self.waitForCancellation()
  }

  /// Waits until the task is cancelled, and throws a `CancellationError`.
  public static func waitForCancellation() async throws {
    await Signal().wait()
    try Task.checkCancellation()
  }
}
