import SystemIO

/// The running calls of each token, so that they can be ended when the token becomes invalid.
final class RunningCalls: Sendable {
  private struct State {
    var lastNumber = 0
    var calls: [String: [Int: @Sendable () -> Void]] = [:]
  }

  private let state = Lock(State())

  /// The ids of all tokens with running calls.
  var tokens: [String] { state.withLock { Array($0.calls.keys) } }

  /// Returns the number of running calls of the token with this id.
  func count(_ token: String) -> Int { state.withLock { $0.calls[token]?.count ?? 0 } }

  /// Adds a call of the token with this id. `end` is called to end it. The call is removed when the returned object is
  /// deallocated.
  func add(_ token: String, end: @escaping @Sendable () -> Void) -> RunningCall {
    let number = state.withLock { state in
      state.lastNumber += 1
      state.calls[token, default: [:]][state.lastNumber] = end
      return state.lastNumber
    }
    return RunningCall(token: token, number: number, calls: self)
  }

  /// Ends all calls of the token with this id.
  ///
  /// - Returns: the number of calls.
  func end(_ token: String) -> Int {
    let ended = state.withLock { $0.calls.removeValue(forKey: token) } ?? [:]
    for end in ended.values { end() }
    return ended.count
  }

  fileprivate func remove(_ token: String, _ number: Int) {
    state.withLock { state in
      state.calls[token]?[number] = nil
      if state.calls[token]?.isEmpty == true { state.calls[token] = nil }
    }
  }
}

/// Keeps a call in a ``RunningCalls`` until this object is deallocated.
final class RunningCall: Sendable {
  private let token: String
  private let number: Int
  private let calls: RunningCalls

  fileprivate init(token: String, number: Int, calls: RunningCalls) {
    self.token = token
    self.number = number
    self.calls = calls
  }

  deinit { calls.remove(token, number) }
}
