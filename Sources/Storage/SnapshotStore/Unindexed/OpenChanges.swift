import SnapshotFormat

/// The changes that one server makes or has made in the store, and that the catalogue possibly lacks.
struct OpenChanges: Sendable {
  private struct Change {
    enum Phase {
      case writing
      /// The snapshot has this record; `nil` if it was deleted.
      case written(SnapshotRecord?)
      /// The outcome is unknown. Once it has an intent, the change can be forgotten.
      case unknown
    }

    let intent: ChangeIntent
    var phase = Phase.writing
    /// Until when the change can be made under its intent; `nil` if it has none.
    var end: ContinuousClock.Instant?
  }

  private var changes: [SnapshotID: Change] = [:]
  /// The numbers of the changes of each snapshot.
  private var numbers: [SnapshotID: Set<SnapshotID>] = [:]
  /// Changes whose intents are no longer needed.
  private var ended: Set<ChangeIntent> = []

  /// Adds a change without an intent, if there are fewer than `limit`. If it is there already, its intent is too old.
  mutating func add(_ change: ChangeIntent, limit: Int) {
    guard changes[change.number] == nil else {
      changes[change.number]?.end = nil
      return
    }
    guard changes.count < limit else { return }
    changes[change.number] = Change(intent: change)
    numbers[change.snapshot, default: []].insert(change.number)
  }

  func hasChanges(of snapshot: SnapshotID) -> Bool { numbers[snapshot] != nil }

  func contains(_ change: ChangeIntent) -> Bool { changes[change.number] != nil }

  func hasIntent(_ change: ChangeIntent, at now: ContinuousClock.Instant) -> Bool {
    changes[change.number]?.end.map { $0 > now } ?? false
  }

  /// The changes without an intent.
  var withoutIntent: [ChangeIntent] {
    changes.values.lazy.filter { $0.end == nil }.map(\.intent)
  }

  /// The changes of a snapshot that were written with a result that satisfies `condition`.
  func written(_ snapshot: SnapshotID, _ condition: (SnapshotRecord?) -> Bool) -> [ChangeIntent] {
    numbers[snapshot, default: []].compactMap { changes[$0] }.filter {
      if case .written(let record) = $0.phase { condition(record) } else { false }
    }.map(\.intent)
  }

  mutating func end(_ change: ChangeIntent, _ outcome: ChangeJournal.Outcome) {
    switch outcome {
    case .written(let record): changes[change.number]?.phase = .written(record)
    case .withoutEffect: settle([change])
    case .unknown:
      changes[change.number]?.phase = .unknown
      if changes[change.number]?.end != nil { forget(change) }
    }
  }

  /// States that changes have intents, under which they can be made until `end`.
  mutating func recordIntents(of intended: [ChangeIntent], until end: ContinuousClock.Instant) {
    for change in intended {
      changes[change.number]?.end = end
      if case .unknown? = changes[change.number]?.phase { forget(change) }
    }
  }

  /// States that the intents of changes are no longer needed.
  mutating func settle(_ settled: [ChangeIntent]) {
    for change in settled {
      if changes[change.number]?.end != nil { ended.insert(change) }
      forget(change)
    }
  }

  /// Forgets written changes whose intents ended before `limit`, when any server can find them.
  mutating func forgetOld(until limit: ContinuousClock.Instant) {
    for change in changes.values where change.end.map({ $0 < limit }) ?? false {
      if case .written = change.phase { forget(change.intent) }
    }
  }

  private mutating func forget(_ change: ChangeIntent) {
    changes[change.number] = nil
    numbers[change.snapshot]?.remove(change.number)
    if numbers[change.snapshot]?.isEmpty == true { numbers[change.snapshot] = nil }
  }

  /// Returns the changes whose intents can be removed, and forgets them.
  mutating func takeEnded() -> Set<ChangeIntent> {
    defer { ended = [] }
    return ended
  }

  /// Takes changes back whose intents could not be removed.
  mutating func putBack(ended former: Set<ChangeIntent>) { ended.formUnion(former) }
}
