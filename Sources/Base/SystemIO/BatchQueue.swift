package import Dispatch
import Synchronization

/// Collects what many callers bring and does it in rounds, one after the other: what comes while a round runs waits, and
/// is done together in the next.
package final class BatchQueue<Item: Sendable>: Sendable {
  private struct State {
    var waiting: [Item] = []
    var isClosed = false
  }

  /// The serial queue that the rounds run on, for other work that must not run beside them.
  package let queue: DispatchQueue
  private let state = Mutex(State())

  /// A queue with nothing to do.
  package init(_ label: String) { queue = DispatchQueue(label: label, qos: .userInitiated) }

  /// Has `item` done by `work` together with all others that wait; every item of one object is done by the same work.
  /// - Returns: `false`, and nothing happens, once it is closed.
  package func add(_ item: Item, _ work: @escaping @Sendable ([Item]) -> Void) -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      state.waiting.append(item)
      if state.waiting.count == 1 { queue.async { work(self.takeWaiting()) } }
      return true
    }
  }

  /// How many items wait for the next round.
  package var waiting: Int { state.withLock { $0.waiting.count } }

  package var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Takes no more items; returns when those that were taken are done.
  package func close() async {
    state.withLock { $0.isClosed = true }
    await queue.perform {}
  }

  private func takeWaiting() -> [Item] {
    state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
  }
}
