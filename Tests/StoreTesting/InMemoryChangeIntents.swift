package import SnapshotStore
import SystemIO

/// Intents of changes in memory, for several servers of one process.
package final class InMemoryChangeIntents: ChangeIntents {
  private struct State {
    var intents: [ChangeIntent: Duration] = [:]
    var now = Duration.zero
    var isAvailable = true
    var onWrite: (@Sendable () async -> Void)?
  }

  private let state = Lock(State())

  /// Creates an empty table.
  package init() {}

  /// All intents.
  package var all: Set<ChangeIntent> { state.withLock { Set($0.intents.keys) } }

  /// Whether calls are answered.
  package var isAvailable: Bool {
    get { state.withLock { $0.isAvailable } }
    set { state.withLock { $0.isAvailable = newValue } }
  }

  /// Makes all intents older.
  package func age(by duration: Duration) { state.withLock { $0.now += duration } }

  /// Calls `body` once, in the middle of the next call that writes.
  package func duringNextWrite(_ body: @escaping @Sendable () async -> Void) {
    state.withLock { $0.onWrite = body }
  }

  package func write(
    _ added: [ChangeIntent], removing ended: [ChangeIntent]
  ) async throws(CatalogError) {
    try requireAnswer()
    await state.withLock { $0.onWrite.take() }?()
    state.withLock { state in
      for intent in ended { state.intents[intent] = nil }
      for intent in added { state.intents[intent] = state.now }
    }
  }

  package func overdue(_ age: Duration, limit: Int) async throws(CatalogError) -> [ChangeIntent] {
    try requireAnswer()
    return state.withLock { state in
      let oldestFirst = state.intents.sorted { $0.value < $1.value }
      return oldestFirst.filter { state.now - $0.value > age }.prefix(limit).map(\.key)
    }
  }

  package func remove(_ intents: [ChangeIntent], olderThan age: Duration) async throws(CatalogError) {
    try requireAnswer()
    state.withLock { state in
      for intent in intents where state.intents[intent].map({ state.now - $0 > age }) ?? false {
        state.intents[intent] = nil
      }
    }
  }

  private func requireAnswer() throws(CatalogError) {
    if !isAvailable { throw .unavailable("for the test") }
  }
}
