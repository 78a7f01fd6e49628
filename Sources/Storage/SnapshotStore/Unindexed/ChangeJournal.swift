package import Logging
package import SnapshotFormat
import SystemIO

/// Lets the servers that share a store find the changes that their catalogue lacks because a server ended, without
/// reading every record.
///
/// Each change of a snapshot goes through these steps, and a server can end after any of them:
/// 1. An intent with the UUID is written to the database: see ``ChangeIntents``. If the database does not answer, a mark is
///    written to the store instead: see ``ChangeMarks``. A deletion is not made then, so that other servers can rely
///    on ``SettledRecords``.
/// 2. The store is changed, within ``Limits/validity`` of step 1. If that is not possible, step 1 is repeated first.
/// 3. The catalogue is changed. If it fails, this server repeats it.
/// 4. The intent is removed, some time later. A mark is removed once intents of all changes are written that were made
///    without one.
///
/// If a server ends after step 1, 2 or 3, the intent remains. Intents older than ``Limits/overdueIntents`` belong to servers
/// that ended, or do not answer: the server that maintains the store reads the records of these UUIDs, and brings the
/// catalogue up to date. For an overdue mark it does so with all records. An intent of a change that was not made, or that
/// is in the catalogue already, costs the reading of one record.
///
/// A server that starts need not wait for that: it brings the catalogue up to date for all intents and marks, which can be
/// its own from before it ended. They remain, because a write that was sent can still be executed.
///
/// Intents are removed only after the record was read again from the store and found to be the one in the catalogue, or
/// after it was inserted as the change wrote it. So each of several changes of one snapshot has its own intent.
///
/// A write to the store that was sent is assumed to be executed within ``Limits/overdueIntents``, or not at all.
///
/// Thread-safe.
package final class ChangeJournal: Sendable {
  /// The limits of a journal.
  package struct Limits: Sendable {
    /// How long a change can be made after its intent was written.
    package var validity = Duration.seconds(120)
    /// The age from which intents belong to a server that ended. It exceeds ``validity`` by more than the longest request
    /// to the store, with its repetitions, takes.
    package var overdueIntents = Duration.seconds(15 * 60)
    /// The age from which marks belong to a server that ended. The clocks of the server and of the store can differ by
    /// 15 minutes; otherwise the store refuses requests.
    package var overdueMarks = Duration.seconds(60 * 60)
    /// The maximum number of changes in memory. Beyond, a mark is not removed, so that all records are compared.
    package var changes = 100_000
    /// How many overdue intents are read at once.
    package var intentsAtOnce = 1000

    /// Creates the default limits.
    package init() {}
  }

  /// How a change of the store ended.
  package enum Outcome: Sendable {
    /// The snapshot has this record now; `nil` if it was deleted.
    case written(SnapshotRecord?)
    /// Nothing was changed, nor will be.
    case withoutEffect
    /// The store did not answer: the change was possibly made, or will be.
    case unknown
  }

  private struct Mark {
    let name: String
    let end: ContinuousClock.Instant
  }

  private struct State {
    var open = OpenChanges()
    var mark: Mark?
    /// Writes a new mark.
    var marking: Task<Result<Void, StoreError>, Never>?
    /// Whether the mark stands for changes that are not in `open`.
    var mustKeepMark = false
  }

  private let intents: any ChangeIntents
  private let marks: any ChangeMarks
  private let limits: Limits
  private let logger: Logger
  private let state = Lock(State())

  /// Creates a journal.
  /// - Parameter logger: receives failures that no caller receives.
  package init(
    _ intents: any ChangeIntents, marks: any ChangeMarks, limits: Limits = Limits(), logger: Logger
  ) {
    (self.intents, self.marks, self.limits, self.logger) = (intents, marks, limits, logger)
  }

  // MARK: - Changing the store

  /// Makes sure that a change will be found if the server ends. Call it before each attempt to make the change. Throws
  /// ``StoreError/unavailable(_:)`` if neither the database nor the store answers; the change must not be made then.
  /// - Parameter needsIntent: whether a mark is not enough, because other servers must know of the change at once.
  package func prepare(_ change: ChangeIntent, needsIntent: Bool = false) async throws(StoreError) {
    let end = ContinuousClock.now + limits.validity
    let (isReady, ended) = state.withLock { state -> (Bool, Set<ChangeIntent>) in
      if state.open.hasIntent(change, at: .now) { return (true, []) }
      state.open.add(change, limit: limits.changes)
      return (false, state.open.takeEnded())
    }
    if isReady { return }
    do {
      try await intents.write([change], removing: Array(ended))
      state.withLock { $0.open.recordIntents(of: [change], until: end) }
    } catch {
      state.withLock { $0.open.putBack(ended: ended) }
      guard !needsIntent else {
        throw .unavailable("A snapshot can't be deleted while the database does not answer: \(error)")
      }
      try await mark(change)
    }
  }

  /// Whether this server made a change of the snapshot that the catalogue possibly lacks.
  package func isUnindexed(_ snapshot: SnapshotID) -> Bool {
    state.withLock { $0.open.hasChanges(of: snapshot) }
  }

  /// States how an attempt to make a change ended. No other attempt follows.
  package func end(_ change: ChangeIntent, _ outcome: Outcome) {
    state.withLock { $0.open.end(change, outcome) }
  }

  /// Makes sure that there is a mark that is not old. Concurrent calls share one.
  private func mark(_ change: ChangeIntent) async throws(StoreError) {
    let marking = state.withLock { state -> Task<Result<Void, StoreError>, Never>? in
      if !state.open.contains(change) { state.mustKeepMark = true }
      if let mark = state.mark, mark.end > .now { return nil }
      if let marking = state.marking { return marking }
      let marking = Task { await self.renewMark() }
      state.marking = marking
      return marking
    }
    try await marking?.value.get()
  }

  private func renewMark() async -> Result<Void, StoreError> {
    let end = ContinuousClock.now + limits.validity
    let name: String
    do { name = try await marks.create() } catch {
      state.withLock { $0.marking = nil }
      return .failure(error)
    }
    let former = state.withLock { state in
      defer { (state.mark, state.marking) = (Mark(name: name, end: end), nil) }
      return state.mark
    }
    // The new mark stands for the same changes.
    if let former { await remove(former) }
    return .success(())
  }

  /// Removes a mark that is not needed. A failure costs time only, so it does not make the change or the flush fail.
  private func remove(_ mark: Mark) async {
    do { try await marks.remove(mark.name) } catch {
      logger.warning(
        "A mark can't be removed; all records will be compared with the catalogue once more than necessary",
        metadata: ["mark": "\(mark.name)", "error": "\(error)"])
    }
  }

  // MARK: - Changing the catalogue

  /// The changes of a snapshot that this server has made in the store. If the catalogue contains a record that was read
  /// after this call, or the removal, it lacks none of them.
  package func written(_ snapshot: SnapshotID) -> [ChangeIntent] {
    state.withLock { $0.open.written(snapshot) { _ in true } }
  }

  /// The changes that this server has made in the store and that have resulted in exactly one of `records`.
  package func written(_ records: [SnapshotRecord]) -> [ChangeIntent] {
    state.withLock { state in records.flatMap { record in state.open.written(record.id) { $0 == record } } }
  }

  /// States that the catalogue contains `changes`. Their intents are removed later.
  package func settle(_ changes: [ChangeIntent]) { state.withLock { $0.open.settle(changes) } }

  /// Writes the intents that are missing because the database did not answer, removes those of settled changes, and
  /// then the mark. Call it regularly.
  package func flush() async throws(CatalogError) {
    let end = ContinuousClock.now + limits.validity
    let (missing, ended, isMarked) = state.withLock { state -> ([ChangeIntent], Set<ChangeIntent>, Bool) in
      state.open.forgetOld(until: .now + limits.validity - limits.overdueIntents)
      return (state.open.withoutIntent, state.open.takeEnded(), state.mark != nil)
    }
    guard !missing.isEmpty || !ended.isEmpty || isMarked else { return }
    do {
      try await intents.write(missing, removing: Array(ended))
    } catch {
      state.withLock { $0.open.putBack(ended: ended) }
      throw error
    }
    let mark = state.withLock { state -> Mark? in
      state.open.recordIntents(of: missing, until: end)
      // A change that began meanwhile can rely on the mark.
      guard state.open.withoutIntent.isEmpty, state.marking == nil else { return nil }
      defer { (state.mark, state.mustKeepMark) = (nil, false) }
      return state.mustKeepMark ? nil : state.mark
    }
    if let mark { await remove(mark) }
  }

  // MARK: - Changes of servers that ended

  /// More than all clocks differ, so that no intent or mark is younger.
  private static let anyAge = Duration.seconds(-86_400)

  /// The snapshots with intents, of servers that run and of those that ended.
  package func snapshotsWithIntents() async throws(CatalogError) -> [SnapshotID] {
    try await intents.overdue(Self.anyAge, limit: limits.changes).map(\.snapshot)
  }

  /// Whether there are marks, of servers that run or that ended.
  package func hasMarks() async throws(StoreError) -> Bool { try await !marks.overdue(Self.anyAge).isEmpty }

  /// Intents of changes that their servers have not completed, and never will.
  package func overdueIntents() async throws(CatalogError) -> [ChangeIntent] {
    try await intents.overdue(limits.overdueIntents, limit: limits.intentsAtOnce)
  }

  /// Removes overdue intents, after the catalogue was brought up to date. Those that a server has renewed remain.
  package func remove(_ intents: [ChangeIntent]) async throws(CatalogError) {
    try await self.intents.remove(intents, olderThan: limits.overdueIntents)
  }

  /// Marks of servers that have not written intents, and never will.
  package func overdueMarks() async throws(StoreError) -> [String] {
    try await marks.overdue(limits.overdueMarks)
  }

  /// Removes overdue marks, after all records were compared with the catalogue.
  package func remove(_ marks: [String]) async throws(StoreError) {
    for name in marks { try await self.marks.remove(name) }
  }
}
