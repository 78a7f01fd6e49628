import Synchronization

/// Limits the attempts to connect to a server that cannot be reached: after a failure no attempt is made during a
/// pause, which doubles with every failure.
final class ConnectionPauses: Sendable {
  private struct State {
    var pause: Duration
    var end = ContinuousClock.now
    var failure: PostgreSQLError?
  }

  private let range: ClosedRange<Duration>
  private let state: Mutex<State>

  init(_ range: ClosedRange<Duration>) {
    self.range = range
    state = Mutex(State(pause: range.lowerBound))
  }

  /// Opens a connection, or throws the last failure during a pause.
  func connect(
    _ configuration: PostgreSQLConfiguration
  ) throws(PostgreSQLError) -> PostgreSQLConnection {
    if let failure = state.withLock({ $0.end > .now ? $0.failure : nil }) { throw failure }
    do {
      let connection = try PostgreSQLConnection(configuration)
      state.withLock { $0 = State(pause: range.lowerBound) }
      return connection
    } catch {
      state.withLock { state in
        // Several servers that lost the same database do not return at the same time.
        state.end = .now + state.pause * Double.random(in: 0.5...1)
        state.pause = min(state.pause * 2, range.upperBound)
        state.failure = error
      }
      throw error
    }
  }

  /// The time until an attempt is made again.
  var remaining: Duration { state.withLock { max(.zero, ContinuousClock.now.duration(to: $0.end)) } }
}
