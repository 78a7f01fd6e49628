import Synchronization
import SystemIO

/// What other threads leave for an event loop to run. Each batch costs one wake-up, however large it is.
final class Mailbox: Sendable {
  /// What has been left since the last time.
  struct Mail: Sendable {
    var jobs: [UnownedJob] = []
    var actions: [@Sendable () -> Void] = []
  }

  private struct State: Sendable {
    var mail = Mail()
    var isOpen = true
    /// Whether the loop knows that there is mail.
    var hasWoken = false
  }

  private let state = Mutex(State())
  private let waker: Waker

  init() throws(SystemError) { waker = try Waker() }

  /// Readable while there is mail.
  var descriptor: Int32 { waker.descriptor }

  /// - Returns: `false` where nobody will run it, because the loop has ended.
  func post(_ job: UnownedJob) -> Bool { post { $0.jobs.append(job) } }

  /// - Returns: `false` where nobody will run it, because the loop has ended.
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

  /// Takes out what is there.
  func empty() -> Mail {
    waker.reset()
    return state.withLock { state in
      defer { (state.mail, state.hasWoken) = (Mail(), false) }
      return state.mail
    }
  }

  /// Takes nothing more; answers with what came last.
  func close() -> Mail {
    state.withLock { state in
      defer { state = State(isOpen: false) }
      return state.mail
    }
  }
}
