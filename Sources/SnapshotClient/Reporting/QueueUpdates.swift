/// The uploads of a queue as they change: first each as it is, then each again after it changed.
///
/// Who reads slowly sees the newest of each, so that memory stays bounded and no final state is passed over.
public struct QueueUpdates: AsyncSequence, Sendable {
  /// What it is made of.
  public typealias Element = QueuedUpload
  /// It never fails.
  public typealias Failure = Never

  /// A pass over it; each has its own state.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }

  /// One pass.
  public struct AsyncIterator: AsyncIteratorProtocol {
    /// The next upload that changed; `nil` once the queue is closed or the task cancelled.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> QueuedUpload? {
      nil
    }
  }
}
