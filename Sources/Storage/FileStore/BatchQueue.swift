import Dispatch
import Synchronization
import SystemIO

/// Gathers what many callers bring and does it in rounds, one after the other: what comes while a round runs waits
/// and is done together in the next.
final class BatchQueue<Item: Sendable>: Sendable {
  private struct State {
    var waiting: [Item] = []
    var isScheduled = false
    var isClosed = false
  }

  private let queue: DispatchQueue
  private let state = Mutex(State())

  init(_ label: String) {
    queue = DispatchQueue(label: "file-store.\(label)", qos: .userInitiated)
  }

  /// Has `item` done by `work` with all others that wait; every item of one object is done by the same work.
  /// - Returns: `false`, and nothing happens, once it is closed.
  func add(_ item: Item, _ work: @escaping @Sendable ([Item]) -> Void) -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      state.waiting.append(item)
      if !state.isScheduled {
        state.isScheduled = true
        queue.async { while let round = self.take() { work(round) } }
      }
      return true
    }
  }

  /// How many items wait for the next round.
  var waiting: Int { state.withLock { $0.waiting.count } }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Takes nothing any more; returns when what was taken is done.
  func close() async {
    state.withLock { $0.isClosed = true }
    await queue.perform {}
  }

  private func take() -> [Item]? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.isScheduled = false
        return nil
      }
      defer { state.waiting = [] }
      return state.waiting
    }
  }
}
