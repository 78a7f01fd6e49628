import SnapshotFormat

/// The changes that one server makes or has made in the store, and that the catalogue possibly lacks.
struct OpenChanges: Sendable {
  private struct Change {
    enum Phase {
      case writing
      /// The snapshot has this record; `nil` if it was deleted.
      case written(SnapshotRecord?)
      /// The outcome is unknown. Once it has a note, the change can be forgotten.
      case unknown
    }

    let noted: NotedChange
    var phase = Phase.writing
    /// Until when the change can be made under its note; `nil` if it has none.
    var end: ContinuousClock.Instant?
  }

  private var changes: [SnapshotID: Change] = [:]
  /// The numbers of the changes of each snapshot.
  private var numbers: [SnapshotID: Set<SnapshotID>] = [:]
  /// Changes whose notes are no longer needed.
  private var ended: Set<NotedChange> = []

  /// Adds a change without a note, if there are fewer than `limit`. If it is there already, its note is too old.
  mutating func add(_ change: NotedChange, limit: Int) {
    guard changes[change.number] == nil else {
      changes[change.number]?.end = nil
      return
    }
    guard changes.count < limit else { return }
    changes[change.number] = Change(noted: change)
    numbers[change.snapshot, default: []].insert(change.number)
  }

  func hasChanges(of snapshot: SnapshotID) -> Bool { numbers[snapshot] != nil }

  func contains(_ change: NotedChange) -> Bool { changes[change.number] != nil }

  func isNoted(_ change: NotedChange, at now: ContinuousClock.Instant) -> Bool {
    changes[change.number]?.end.map { $0 > now } ?? false
  }

  /// The changes without a note.
  var unnoted: [NotedChange] {
    changes.values.lazy.filter { $0.end == nil }.map(\.noted)
  }

  /// The changes of a snapshot that were written with a result that satisfies `condition`.
  func written(_ snapshot: SnapshotID, _ condition: (SnapshotRecord?) -> Bool) -> [NotedChange] {
    numbers[snapshot, default: []].compactMap { changes[$0] }.filter {
      if case .written(let record) = $0.phase { condition(record) } else { false }
    }.map(\.noted)
  }

  mutating func end(_ change: NotedChange, _ outcome: ChangeJournal.Outcome) {
    switch outcome {
    case .written(let record): changes[change.number]?.phase = .written(record)
    case .withoutEffect: settle([change])
    case .unknown:
      changes[change.number]?.phase = .unknown
      if changes[change.number]?.end != nil { forget(change) }
    }
  }

  /// States that changes have notes, under which they can be made until `end`.
  mutating func note(_ noted: [NotedChange], until end: ContinuousClock.Instant) {
    for change in noted {
      changes[change.number]?.end = end
      if case .unknown? = changes[change.number]?.phase { forget(change) }
    }
  }

  /// States that the notes of changes are no longer needed.
  mutating func settle(_ settled: [NotedChange]) {
    for change in settled {
      if changes[change.number]?.end != nil { ended.insert(change) }
      forget(change)
    }
  }

  /// Forgets written changes whose notes ended before `limit`, when any server can find them.
  mutating func forgetOld(until limit: ContinuousClock.Instant) {
    for change in changes.values where change.end.map({ $0 < limit }) ?? false {
      if case .written = change.phase { forget(change.noted) }
    }
  }

  private mutating func forget(_ change: NotedChange) {
    changes[change.number] = nil
    numbers[change.snapshot]?.remove(change.number)
    if numbers[change.snapshot]?.isEmpty == true { numbers[change.snapshot] = nil }
  }

  /// Returns the changes whose notes can be removed, and forgets them.
  mutating func takeEnded() -> Set<NotedChange> {
    defer { ended = [] }
    return ended
  }

  /// Takes changes back whose notes could not be removed.
  mutating func putBack(ended former: Set<NotedChange>) { ended.formUnion(former) }
}
