package import SnapshotStore
import SystemIO

/// Notes of changes in memory, for several servers of one process.
package final class InMemoryChangeNotes: ChangeNotes {
  private struct State {
    var notes: [NotedChange: Duration] = [:]
    var now = Duration.zero
    var isAvailable = true
    var onWrite: (@Sendable () async -> Void)?
  }

  private let state = Lock(State())

  /// Creates an empty table.
  package init() {}

  /// All notes.
  package var all: Set<NotedChange> { state.withLock { Set($0.notes.keys) } }

  /// Whether calls are answered.
  package var isAvailable: Bool {
    get { state.withLock { $0.isAvailable } }
    set { state.withLock { $0.isAvailable = newValue } }
  }

  /// Makes all notes older.
  package func age(by duration: Duration) { state.withLock { $0.now += duration } }

  /// Calls `body` once, in the middle of the next call that writes.
  package func duringNextWrite(_ body: @escaping @Sendable () async -> Void) {
    state.withLock { $0.onWrite = body }
  }

  package func write(
    _ added: [NotedChange], removing ended: [NotedChange]
  ) async throws(CatalogError) {
    try requireAnswer()
    await state.withLock { $0.onWrite.take() }?()
    state.withLock { state in
      for note in ended { state.notes[note] = nil }
      for note in added { state.notes[note] = state.now }
    }
  }

  package func overdue(_ age: Duration, limit: Int) async throws(CatalogError) -> [NotedChange] {
    try requireAnswer()
    return state.withLock { state in
      let oldestFirst = state.notes.sorted { $0.value < $1.value }
      return oldestFirst.filter { state.now - $0.value > age }.prefix(limit).map(\.key)
    }
  }

  package func remove(_ notes: [NotedChange], olderThan age: Duration) async throws(CatalogError) {
    try requireAnswer()
    state.withLock { state in
      for note in notes where state.notes[note].map({ state.now - $0 > age }) ?? false {
        state.notes[note] = nil
      }
    }
  }

  private func requireAnswer() throws(CatalogError) {
    if !isAvailable { throw .unavailable("for the test") }
  }
}
