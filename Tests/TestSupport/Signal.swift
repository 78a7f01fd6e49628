/// Something that happens once, for a task to wait for.
public final class Signal: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  /// A signal that was not given yet.
  public init() { (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

  /// Gives the signal; again does nothing more.
  public func fire() { continuation.yield() }

  /// Waits for the signal, or for the end of the task.
  public func wait() async { for await _ in stream { return } }
}
