import Foundation
public import SnapshotFormat
import SystemIO

/// Deletes expired snapshots: those that the retention rules no longer keep.
///
/// No state is kept between two passes. Each pass reads all records, so that it also deletes the snapshots that an
/// interrupted or cancelled pass has left. Immediately before a snapshot is deleted its record is checked again, so
/// that a snapshot that was pinned meanwhile is kept. Safe to use from any task.
public struct Reaper: Sendable {
  /// The result of a pass.
  public struct Outcome: Sendable, Hashable {
    /// The deleted snapshots.
    public var expired: [Expiration]
    /// The number of expired snapshots that were not deleted, including those whose deletion failed.
    public var remaining: Int

    /// Creates an outcome.
    public init(expired: [Expiration] = [], remaining: Int = 0) {
      self.expired = expired
      self.remaining = remaining
    }
  }

  /// The retention rules, as they are now.
  public var rules: RetentionRules { currentRules() }
  /// Tells others of deletions; `nil` if nobody wants to know.
  package var announcer: (any ChangeAnnouncer)?
  private let currentRules: @Sendable () -> RetentionRules
  private let store: any BundleStore
  private let catalog: any Catalog
  private let queue = ServerQueues.shared.maintenance
  private let clock: DeletionClock
  private let onExpiration: @Sendable (Expiration) -> Void
  private let onFailure: @Sendable (SnapshotID?, any Error) -> Void
  private let onHold: @Sendable (ExpirationHeld?) -> Void
  private let onUndated: @Sendable (Int) -> Void
  /// The ends that were announced, so that a pass does not read the records again.
  private let announced = Lock<[SnapshotID: Date]>([:])

  /// How many seconds before its end a snapshot is announced.
  package static let warningSeconds = 86_400.0

  /// Creates a reaper.
  /// - Parameters:
  ///   - rules: the rules that decide which snapshots expire. Evaluated for every pass, so that they can change.
  ///   - store: the store whose snapshots are deleted.
  ///   - catalog: the index of `store`.
  ///   - clock: the time by which snapshots expire. While it is doubted, nothing is deleted without a confirmation.
  ///   - onExpiration: called with each deleted snapshot.
  ///   - onFailure: called with a snapshot that could not be deleted, or with `nil` if the whole pass failed. The next
  ///     pass tries again.
  ///   - onHold: called before each run with the reason why the run was stopped, or with `nil` if it was not stopped.
  ///   - onUndated: called in each run with the number of snapshots that the rules do not apply to, because their time of
  ///     receipt can't be right, if there are any.
  public init(
    _ rules: @autoclosure @escaping @Sendable () -> RetentionRules, store: any BundleStore,
    catalog: any Catalog,
    clock: DeletionClock = DeletionClock(),
    onExpiration: @escaping @Sendable (Expiration) -> Void = { _ in },
    onFailure: @escaping @Sendable (SnapshotID?, any Error) -> Void = { _, _ in },
    onHold: @escaping @Sendable (ExpirationHeld?) -> Void = { _ in },
    onUndated: @escaping @Sendable (Int) -> Void = { _ in }
  ) {
    currentRules = rules
    self.store = store
    self.catalog = catalog
    self.clock = clock
    self.onExpiration = onExpiration
    self.onFailure = onFailure
    self.onHold = onHold
    self.onUndated = onUndated
  }

  /// Returns the expired snapshots, oldest first, with the reasons, and deletes nothing.
  public func plan() async throws -> RetentionPlan { try await pass().plan }

  /// Reads all records. Returns the plan, and the ends of the snapshots that are to be announced.
  private func pass() async throws -> (plan: RetentionPlan, soon: [SnapshotID: Date]) {
    let (reading, rules) = (await clock.read(), rules)
    let warns = announcer?.announcesExpirations == true
    let time = reading.time...reading.time.addingTimeInterval(Self.warningSeconds)
    var soon: [SnapshotID: Date] = [:]
    var planner = RetentionPlanner(rules, now: reading.time)
    var total = 0
    try await store.forEachBatch { ids in
      try Task.checkCancellation()
      let summaries = try await store.summaries(ids)
      for summary in summaries {
        planner.add(summary)
        if warns, let end = rules.end(of: summary), time.contains(end) { soon[summary.id] = end }
      }
      total += summaries.count
      await Task.yield()
    }
    let complete = planner
    // Sorting a million expirations takes about a second, so it runs on a thread with low priority.
    let plan = RetentionPlan(
      expirations: await queue.perform { complete.plan() }, total: total, undated: complete.undated,
      doubt: reading.doubt)
    return (plan, soon)
  }

  /// Announces snapshots that expire soon. What fails is tried again in the next pass.
  private func announce(_ soon: [SnapshotID: Date]) async {
    guard let announcer else { return }
    for (id, end) in soon where announced.withLock({ $0[id] != end }) {
      guard !Task.isCancelled else { return }
      do {
        try await announcer.expiring(try await store.record(id), at: end)
        announced.withLock { $0[id] = end }
      } catch StoreError.deleted, StoreError.notFound {
        // It was deleted since the pass began.
      } catch {
        onFailure(id, error)
      }
    }
    announced.withLock { ends in ends = ends.filter { soon[$0.key] != nil } }
  }

  /// Returns the expired snapshots, oldest first, and announces those that expire soon. Throws ``ExpirationHeld`` if their deletion needs a confirmation.
  /// - Parameter isConfirmed: whether a person has confirmed the deletion, and the clock.
  public func due(isConfirmed: Bool = false) async throws -> [Expiration] {
    if isConfirmed { await clock.confirm() }
    let (plan, soon) = try await pass()
    if plan.undated > 0 { onUndated(plan.undated) }
    guard isConfirmed || !plan.needsConfirmation else {
      let held = ExpirationHeld(plan)
      onHold(held)
      throw held
    }
    onHold(nil)
    await announce(soon)
    return plan.expirations
  }

  /// Deletes the expired snapshots one after the other. Throws ``ExpirationHeld`` and deletes nothing if this needs a
  /// confirmation.
  /// - Parameters:
  ///   - limit: the maximum number of deletions.
  ///   - isConfirmed: whether a person has confirmed the deletion.
  @discardableResult
  public func run(limit: Int = .max, isConfirmed: Bool = false) async throws -> Outcome {
    try await expire(try await due(isConfirmed: isConfirmed)[...], limit: limit)
  }

  /// Deletes the snapshots of an earlier plan one after the other, except those that are no longer expired.
  /// - Parameters:
  ///   - due: the snapshots, as ``due(isConfirmed:)`` returned them.
  ///   - limit: the maximum number of deletions.
  public func expire(_ due: ArraySlice<Expiration>, limit: Int) async throws -> Outcome {
    var outcome = Outcome(remaining: due.count)
    for expiration in due.prefix(max(limit, 0)) {
      try Task.checkCancellation()
      do {
        if try await expire(expiration) { outcome.expired.append(expiration) }
        outcome.remaining -= 1
      } catch {
        onFailure(expiration.id, error)
      }
      await Task.yield()
    }
    return outcome
  }

  /// Runs a pass regularly until the task is cancelled.
  /// - Parameters:
  ///   - interval: the pause between two passes.
  ///   - delay: the pause before the first pass.
  ///   - sleep: waits for a duration, or throws if the task is cancelled.
  public func run(
    every interval: Duration, after delay: Duration,
    sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) async {
    var pause = delay
    while !Task.isCancelled {
      do { try await sleep(pause) } catch { return }
      pause = interval
      do {
        try await run()
      } catch is CancellationError {
        return
      } catch is ExpirationHeld {
        // `onHold` has been called; the next pass checks again.
      } catch {
        onFailure(nil, error)
      }
    }
  }

  /// Deletes a snapshot, unless its record has changed meanwhile.
  private func expire(_ expiration: Expiration) async throws -> Bool {
    let now = await clock.read().time
    let isGone: Bool
    do {
      try await announcer?.prepareDeletion(of: expiration.id, in: store)
      isGone = try await store.delete(expiration.id) { record in
        guard !record.isPinned else { return false }
        return expiration.rule != .expires || record.expiresAt.map { $0 <= now } ?? false
      }
    } catch StoreError.deleted {
      try await announcer?.deleted(expiration.id)
      // The task that deleted it may have ended before it updated the catalogue.
      try await catalog.remove(expiration.id)
      return false
    } catch StoreError.notFound {
      return false
    }
    guard isGone else { return false }
    try await announcer?.deleted(expiration.id)
    onExpiration(expiration)
    try await catalog.remove(expiration.id)
    return true
  }
}
