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
}
