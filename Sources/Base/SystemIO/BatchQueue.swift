package import Dispatch

/// Collects items from many callers and processes them in batches, one batch at a time: items that are added while a
/// batch is being processed wait and form the next batch.
package final class BatchQueue<Item: Sendable>: Sendable {
  private struct State {
    var waiting: [Item] = []
    var isClosed = false
  }

  /// The serial queue that the batches run on. Use it for work that must not run concurrently with a batch.
  package let queue: DispatchQueue
  private let state = Lock(State())

  /// Creates an empty queue.
  package init(_ label: String) {
    queue = DispatchQueue(label: label, qos: .userInitiated)
  }

  /// Adds `item` to the next batch, which `work` processes together with all other waiting items. Pass the same `work`
  /// in every call: only the closure of a batch's first item is called.
  /// - Returns: `false` if the queue is closed. The item is then ignored.
  package func add(_ item: Item, _ work: @escaping @Sendable ([Item]) -> Void) -> Bool {
    let isFirst: Bool? = state.withLock { state in
      guard !state.isClosed else { return nil }
      state.waiting.append(item)
      return state.waiting.count == 1
    }
    // Not under the lock, which the thread that this wakes needs immediately.
    if isFirst == true { queue.async { work(self.takeWaiting()) } }
    return isFirst != nil
  }

  /// The number of items that wait for the next batch.
  package var waiting: Int { state.withLock { $0.waiting.count } }

  package var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Rejects further items and returns when all accepted items are processed.
  package func close() async {
    state.withLock { $0.isClosed = true }
    // The batch of an accepted item may not have reached the queue yet.
    while waiting > 0 { await queue.perform {} }
    await queue.perform {}
  }

  private func takeWaiting() -> [Item] {
    state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
  }
}
