/// Something that happens once, for tasks to wait for.
public final class Signal: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  /// A signal that was not given yet.
  public init() { (stream, continuation) = AsyncStream.makeStream() }

  /// Gives the signal; again does nothing more.
  public func fire() { continuation.finish() }

  /// Waits for the signal, or for the end of the task.
  public func wait() async { for await _ in stream {} }
}
