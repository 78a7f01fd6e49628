import SystemIO

/// Limits the attempts to connect to a server that cannot be reached, or does not answer: after a failure no attempt is
/// made during a pause, which doubles with every failure. Then one caller at a time tries to connect, and all others fail
/// at once until it succeeds.
final class ConnectionPauses: Sendable {
  private struct State {
    var pause: Duration
    var end = ContinuousClock.now
    var failure: PostgreSQLError?
    /// Whether a caller tries to connect after a failure.
    var isTrying = false
    /// When a connection was last given up because the server did not answer.
    var lastSilence: ContinuousClock.Instant?
  }

  private let range: ClosedRange<Duration>
  private let state: Lock<State>

  init(_ range: ClosedRange<Duration>) {
    self.range = range
    state = Lock(State(pause: range.lowerBound))
  }

  /// Opens a connection, or throws the last failure during a pause, or while another caller tries.
  func connect(
    _ configuration: PostgreSQLConfiguration
  ) throws(PostgreSQLError) -> PostgreSQLConnection {
    let former = state.withLock { state -> PostgreSQLError? in
      guard let failure = state.failure else { return nil }
      if state.isTrying || state.end > .now { return failure }
      state.isTrying = true
      return nil
    }
    if let former { throw former }
    do {
      let connection = try PostgreSQLConnection(configuration)
      state.withLock { state in
        (state.pause, state.failure, state.isTrying) = (range.lowerBound, nil, false)
      }
      return connection
    } catch {
      state.withLock { fail(&$0, error) }
      throw error
    }
  }

  /// States that the server did not answer in time. No connection is used that was opened before.
  func recordSilence() {
    state.withLock { state in
      state.lastSilence = .now
      // Several statements that waited at the same time are one failure.
      if state.failure == nil { fail(&state, .timeout) }
    }
  }

  /// Whether the server has answered since, or never failed to, so that a connection that was opened at `time` can be
  /// used.
  func trusts(_ time: ContinuousClock.Instant) -> Bool {
    state.withLock { state in state.lastSilence.map { time > $0 } ?? true }
  }

  private func fail(_ state: inout State, _ error: PostgreSQLError) {
    // Several servers that lost the same database do not return at the same time.
    state.end = .now + state.pause * Double.random(in: 0.5...1)
    state.pause = min(state.pause * 2, range.upperBound)
    (state.failure, state.isTrying) = (error, false)
  }

  /// The time until an attempt is made again.
  var remaining: Duration { state.withLock { max(.zero, ContinuousClock.now.duration(to: $0.end)) } }
}
