import SystemIO

/// The exchanges of a ``BackgroundTransport`` that this process knows.
package final class BackgroundExchanges: Sendable {
  package typealias Outcome = Result<TransportResponse, TransportError>

  private struct Exchange {
    var outcome: Outcome?
    var waiter: AsyncStream<Outcome>.Continuation?
    var progress: (@Sendable (Int64) -> Void)?
  }

  private struct State {
    var exchanges: [String: Exchange] = [:]
    /// Whether all events were delivered since the last wait for their end.
    var haveEventsEnded = false
    var waiters: [AsyncStream<Never>.Continuation] = []
  }

  private let state = Lock(State())

  package init() {}

  package var names: Set<String> { state.withLock { Set($0.exchanges.keys) } }

  package func isUnderWay(_ name: String) -> Bool {
    state.withLock { state in state.exchanges[name].map { $0.outcome == nil } ?? false }
  }

  /// Records that the exchange `name` is under way, unless it is known.
  package func add(_ name: String) {
    state.withLock { state in
      if state.exchanges[name] == nil { state.exchanges[name] = Exchange() }
    }
  }

  /// Forgets the exchange `name`.
  package func remove(_ name: String) {
    state.withLock { $0.exchanges.removeValue(forKey: name) }?.waiter?.finish()
  }

  /// Records how many bytes were sent.
  package func sent(_ count: Int64, of name: String) {
    state.withLock { $0.exchanges[name]?.progress }?(count)
  }

  /// Ends the exchange `name`, which may be unknown until now.
  package func end(_ name: String, _ outcome: Outcome) {
    state.withLock { state in
      let waiter = state.exchanges[name]?.waiter
      // A waiter whose task was cancelled does not take it.
      if let waiter, case .enqueued = waiter.yield(outcome) {
        state.exchanges[name] = nil
        waiter.finish()
      } else {
        state.exchanges[name] = Exchange(outcome: outcome)
      }
    }
  }

  /// Waits for the outcome as ``BackgroundTransport/outcome(of:progress:)`` specifies.
  package func outcome(of name: String, progress: (@Sendable (Int64) -> Void)?) async -> Outcome? {
    let (outcomes, waiter) = AsyncStream<Outcome>.makeStream()
    let former: AsyncStream<Outcome>.Continuation? = state.withLock { state in
      guard var exchange = state.exchanges[name] else {
        waiter.finish()
        return nil
      }
      if let outcome = exchange.outcome {
        state.exchanges[name] = nil
        waiter.yield(outcome)
        waiter.finish()
        return nil
      }
      defer { state.exchanges[name] = exchange }
      (exchange.progress, exchange.waiter) = (progress, waiter)
      return state.exchanges[name]?.waiter
    }
    former?.finish()
    for await outcome in outcomes { return outcome }
    return nil
  }

  /// Records that the system has delivered all events.
  package func endEvents() {
    let waiters = state.withLock { state in
      defer { (state.waiters, state.haveEventsEnded) = ([], true) }
      return state.waiters
    }
    for waiter in waiters { waiter.finish() }
  }

  /// Waits as ``BackgroundTransport/eventsEnd()`` specifies.
  package func eventsEnd() async {
    let (stream, waiter) = AsyncStream<Never>.makeStream()
    state.withLock { state in
      if state.haveEventsEnded { waiter.finish() } else { state.waiters.append(waiter) }
    }
    for await _ in stream {}
    if !Task.isCancelled { state.withLock { $0.haveEventsEnded = false } }
  }
}
