import SystemIO
import SnapshotFormat

/// The uploads of a queue and their changes: first the current state of each upload, then each upload again after it
/// changed.
///
/// A slow reader receives only the latest state of each upload, so that memory use is bounded. It never misses a final
/// state.
public struct QueueUpdates: AsyncSequence, Sendable {
  /// The type of the elements.
  public typealias Element = QueuedUpload
  /// The sequence never fails.
  public typealias Failure = Never

  let subscribe: @Sendable () -> Subscription

  /// Creates an independent iterator.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(subscribe()) }

  /// An iteration over the updates.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let subscription: Subscription
    private var signals: AsyncStream<Void>.AsyncIterator

    init(_ subscription: Subscription) {
      self.subscription = subscription
      signals = subscription.signals.makeAsyncIterator()
    }

    /// Returns the next changed upload; `nil` once the queue is closed or the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> QueuedUpload? {
      while true {
        if let item = subscription.take() { return item }
        guard await signals.next(isolation: actor) != nil else { return subscription.take() }
      }
    }
  }

  /// The changes that one iterator has not returned yet.
  final class Subscription: Sendable {
    let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation
    private let pending: Lock<(order: [SnapshotID], newest: [SnapshotID: QueuedUpload])>

    init(_ items: [QueuedUpload]) {
      (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
      pending = Lock((items.map(\.id), Dictionary(items.map { ($0.id, $0) }) { $1 }))
    }

    func put(_ items: [QueuedUpload]) {
      pending.withLock { pending in
        for item in items where pending.newest.updateValue(item, forKey: item.id) == nil {
          pending.order.append(item.id)
        }
      }
      signal.yield()
    }

    func take() -> QueuedUpload? {
      pending.withLock { pending in
        guard !pending.order.isEmpty else { return nil }
        return pending.newest.removeValue(forKey: pending.order.removeFirst())
      }
    }

    func finish() { signal.finish() }
  }

  /// The active subscriptions of a queue.
  struct Subscribers: Sendable {
    private struct Entry: Sendable { weak var subscription: Subscription? }

    private var entries: [Entry] = []
    private var isFinished = false

    mutating func add(_ subscription: Subscription) {
      entries.removeAll { $0.subscription == nil }
      entries.append(Entry(subscription: subscription))
      if isFinished { subscription.finish() }
    }

    func put(_ items: [QueuedUpload]) {
      guard !items.isEmpty else { return }
      for entry in entries { entry.subscription?.put(items) }
    }

    mutating func finish() {
      isFinished = true
      for entry in entries { entry.subscription?.finish() }
    }
  }
}
