import Synchronization

/// Something that happens once and that any number of tasks wait for, those that are cancelled meanwhile too.
final class Signal: Sendable {
  private enum State {
    case waiting([CheckedContinuation<Void, Never>])
    case fired
  }

  private let state = Mutex(State.waiting([]))

  /// Lets all go on that wait, and all that come later.
  func fire() {
    let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      defer { state = .fired }
      if case .waiting(let waiting) = state { return waiting }
      return []
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Waits until it has happened.
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
