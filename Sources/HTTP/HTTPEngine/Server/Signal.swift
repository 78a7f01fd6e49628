import SystemIO

/// A one-time event for which any number of tasks can wait. Cancelled tasks wait, too.
final class Signal: Sendable {
  private enum State {
    case waiting([CheckedContinuation<Void, Never>])
    case fired
  }

  private let state = Lock(State.waiting([]))

  /// Resumes all waiting tasks. Later calls of ``wait()`` return immediately.
  func fire() {
    let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      defer { state = .fired }
      if case .waiting(let waiting) = state { return waiting }
      return []
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Waits until the signal has fired.
  func wait() async {
    await withCheckedContinuation { continuation in
      let hasFired = state.withLock { state in
        guard case .waiting(let waiting) = state else { return true }
        state = .waiting(waiting + [continuation])
        return false
      }
      if hasFired { continuation.resume() }
    }
  }
}
