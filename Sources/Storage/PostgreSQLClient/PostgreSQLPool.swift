import Dispatch
import SystemIO

/// A limited number of connections to a database, each with a serial queue on which its statements are executed.
///
/// A connection is opened when it is needed, and again after it was lost. After a failed attempt, or after a server did
/// not answer in time, all callers fail immediately for a pause, which doubles with every failure up to a limit. Then one
/// caller tries again.
package final class PostgreSQLPool: Sendable {
  /// Settings of the connections.
  package let configuration: PostgreSQLConfiguration

  private struct Waiting {
    let continuation: CheckedContinuation<Slot?, Never>
    let deadline: ContinuousClock.Instant
  }

  private struct State {
    var idle: [Slot]
    var waiting: [Waiting] = []
    var isClosed = false
  }

  private let state: Lock<State>
  private let pauses: ConnectionPauses

  /// Creates a pool, which connects when it is first used.
  /// - Parameter other: a pool for the same database. If one of them fails, the other fails immediately, too.
  package init(_ configuration: PostgreSQLConfiguration, failingWith other: PostgreSQLPool? = nil) {
    self.configuration = configuration
    let count = min(max(configuration.connections, 1), PostgreSQLLimits.connections)
    state = Lock(State(idle: (0..<count).map { Slot(number: $0) }))
    pauses = other?.pauses ?? ConnectionPauses(configuration.pause)
  }

  /// Runs `body` with a connection, on the connection's queue.
  ///
  /// Throws ``PostgreSQLError/unavailable(_:)`` or ``PostgreSQLError/busy`` if there is no connection, and otherwise the
  /// error of `body`.
  package func perform<Value: Sendable>(
    _ body: @escaping @Sendable (PostgreSQLConnection) throws -> Value
  ) async throws -> Value {
    let end = configuration.callTimeout.map { ContinuousClock.now + $0 }
    let slot = try await take()
    defer { release(slot) }
    return try await slot.queue.perform { [self] () throws(any Error) in
      let connection = try slot.connection(configuration, pauses)
      connection.callEnd = end
      defer { if connection.isSilent { pauses.recordSilence() } }
      return try body(connection)
    }
  }

  /// Runs `body` in a transaction. It is run again after a serialization failure, at most
  /// ``PostgreSQLLimits/attempts`` times in all.
  package func transaction<Value: Sendable>(
    _ kind: PostgreSQLConnection.TransactionKind = .readWrite,
    _ body: @escaping @Sendable (PostgreSQLConnection) throws -> Value
  ) async throws -> Value {
    var attempt = 1
    while true {
      do {
        return try await perform { try $0.transaction(kind, body) }
      } catch PostgreSQLError.serializationFailure where attempt < PostgreSQLLimits.attempts {
        try await Task.sleep(for: .milliseconds(Int.random(in: 1...10 * attempt)))
        attempt += 1
      }
    }
  }

  /// Closes the idle connections, and each other one when it is released. Later calls throw
  /// ``PostgreSQLError/unavailable(_:)``.
  package func close() {
    let (idle, waiting) = state.withLock { state in
      state.isClosed = true
      defer { (state.idle, state.waiting) = ([], []) }
      return (state.idle, state.waiting)
    }
    for slot in idle { slot.close() }
    for caller in waiting { caller.continuation.resume(returning: nil) }
  }

  // MARK: - Connections

  private func take() async throws(PostgreSQLError) -> Slot {
    let deadline = ContinuousClock.now + configuration.waitTimeout
    let slot = await withCheckedContinuation { (continuation: CheckedContinuation<Slot?, Never>) in
      let slot = state.withLock { state -> Slot?? in
        if state.isClosed { return .some(nil) }
        if let slot = state.idle.popLast() { return slot }
        guard state.waiting.count < PostgreSQLLimits.waiting else { return .some(nil) }
        state.waiting.append(Waiting(continuation: continuation, deadline: deadline))
        return nil
      }
      if let slot { continuation.resume(returning: slot) }
    }
    if let slot { return slot }
    throw state.withLock(\.isClosed) ? .unavailable("The pool is closed.") : .busy
  }

  /// Passes the connection to the caller that waits longest. Those that waited too long fail.
  private func release(_ slot: Slot) {
    let now = ContinuousClock.now
    let (late, next, isClosed) = state.withLock { state -> ([Waiting], Waiting?, Bool) in
      let late = state.waiting.prefix { $0.deadline < now }
      state.waiting.removeFirst(late.count)
      guard !state.isClosed else { return (Array(late), nil, true) }
      let next = state.waiting.isEmpty ? nil : state.waiting.removeFirst()
      if next == nil { state.idle.append(slot) }
      return (Array(late), next, false)
    }
    for caller in late { caller.continuation.resume(returning: nil) }
    next?.continuation.resume(returning: slot)
    if isClosed { slot.close() }
  }
}

/// A place for a connection.
///
/// - Invariant: `current` is accessed only on `queue`. This makes `@unchecked Sendable` correct.
private final class Slot: @unchecked Sendable {
  let queue: DispatchQueue
  private var current: PostgreSQLConnection?

  init(number: Int) { queue = DispatchQueue(label: "postgresql.\(number)", qos: .userInitiated) }

  /// Returns the open connection, or opens one. Call it on ``queue``.
  func connection(
    _ configuration: PostgreSQLConfiguration, _ pauses: ConnectionPauses
  ) throws(PostgreSQLError) -> PostgreSQLConnection {
    if let current, current.isAlive(), pauses.trusts(current.openedAt) { return current }
    current = nil
    let connection = try pauses.connect(configuration)
    current = connection
    return connection
  }

  /// Closes the connection after its current work.
  func close() { queue.async { self.current = nil } }
}
