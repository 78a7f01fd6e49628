import SystemIO

/// The jobs and actions that other threads post to an event loop. Each batch causes only one wake-up.
final class Mailbox: Sendable {
  /// The jobs and actions since the last call.
  struct Mail: Sendable {
    var jobs: [UnownedJob] = []
    var actions: [@Sendable () -> Void] = []
  }

  private struct State: Sendable {
    var mail = Mail()
    var isOpen = true
    /// Whether the loop was woken and has not emptied the mailbox since.
    var hasWoken = false
  }

  private let state = Lock(State())
  private let waker: Waker

  init() throws(SystemError) { waker = try Waker() }

  /// A descriptor that is readable while the mailbox is not empty.
  var descriptor: Int32 { waker.descriptor }

  /// - Returns: `false` if the loop has ended and will not run the job.
  func post(_ job: UnownedJob) -> Bool { post { $0.jobs.append(job) } }

  /// - Returns: `false` if the loop has ended and will not run the action.
  func post(_ action: @escaping @Sendable () -> Void) -> Bool { post { $0.actions.append(action) } }

  private func post(_ append: (inout Mail) -> Void) -> Bool {
    let (isOpen, wakes) = state.withLock { state in
      guard state.isOpen else { return (false, false) }
      append(&state.mail)
      defer { state.hasWoken = true }
      return (true, !state.hasWoken)
    }
    if wakes { waker.wake() }
    return isOpen
  }

  /// Removes and returns all contents.
  func empty() -> Mail {
    waker.reset()
    return state.withLock { state in
      defer { (state.mail, state.hasWoken) = (Mail(), false) }
      return state.mail
    }
  }

  /// Closes the mailbox and returns its last contents.
  func close() -> Mail {
    state.withLock { state in
      defer { state = State(isOpen: false) }
      return state.mail
    }
  }
}
