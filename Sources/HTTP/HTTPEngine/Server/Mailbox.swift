import SystemIO

/// The actions that other threads post to an event loop. Each batch causes only one wake-up.
final class Mailbox: Sendable {
  typealias Action = @Sendable () -> Void

  private struct State: Sendable {
    var actions: [Action] = []
    var isOpen = true
    /// Whether the loop was woken and has not emptied the mailbox since.
    var hasWoken = false
  }

  private let state = Lock(State())
  private let waker: Waker

  init() throws(SystemError) { waker = try Waker() }

  /// A descriptor that is readable while the mailbox is not empty.
  var descriptor: Int32 { waker.descriptor }

  /// - Returns: `false` if the loop has ended and will not run the action.
  func post(_ action: @escaping Action) -> Bool {
    let (isOpen, wakes) = state.withLock { state in
      guard state.isOpen else { return (false, false) }
      state.actions.append(action)
      defer { state.hasWoken = true }
      return (true, !state.hasWoken)
    }
    if wakes { waker.wake() }
    return isOpen
  }

  /// Removes and returns all actions.
  func empty() -> [Action] {
    waker.reset()
    return state.withLock { state in
      defer { (state.actions, state.hasWoken) = ([], false) }
      return state.actions
    }
  }

  /// Closes the mailbox and returns its last actions.
  func close() -> [Action] {
    state.withLock { state in
      defer { state = State(isOpen: false) }
      return state.actions
    }
  }
}
