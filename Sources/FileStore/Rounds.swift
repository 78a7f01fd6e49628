import Dispatch
import SystemIO
import Synchronization

/// Gathers what comes while the work on what came before runs, so that it is done together. One round at a time.
final class Rounds<Item: Sendable>: Sendable {
  private struct State: Sendable {
    var waiting: [Item] = []
    var isScheduled = false
    var isClosed = false
  }

  private let queue: DispatchQueue
  private let perform: @Sendable ([Item]) -> Void
  private let state = Mutex(State())

  /// - Parameter perform: does one round; may block.
  init(_ label: String, perform: @escaping @Sendable ([Item]) -> Void) {
    queue = DispatchQueue(label: "file-store.\(label)", qos: .userInitiated)
    self.perform = perform
  }

  /// - Returns: `false`, and nothing happens, after ``close()``.
  func add(_ item: Item) -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      state.waiting.append(item)
      if !state.isScheduled {
        state.isScheduled = true
        queue.async { self.run() }
      }
      return true
    }
  }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Takes nothing more; returns when what was taken is done.
  func close() async {
    state.withLock { $0.isClosed = true }
    await queue.perform {}
  }

  private func run() {
    while let round = takeRound() { perform(round) }
  }

  private func takeRound() -> [Item]? {
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
