public import Foundation
public import SnapshotFormat
import SystemIO

/// Lets go by itself what the rules no longer keep.
///
/// Nothing of it is remembered between two passes: one that is cut short, by a crash or by cancellation, is made up
/// for by the next, for each looks at all records anew. A snapshot goes only if its record still allows it at the
/// very moment of the deletion, so that a pin that comes late keeps it all the same. Safe to use from any task.
public struct Reaper: Sendable {
  /// How a pass ended.
  public struct Outcome: Sendable, Hashable {
    /// What went.
    public var expired: [Expiration]
    /// How many more were to go when it ended, the ones that failed among them.
    public var remaining: Int

    /// A pass that ended so.
    public init(expired: [Expiration] = [], remaining: Int = 0) {
      self.expired = expired
      self.remaining = remaining
    }
  }

  /// The rules.
  public let rules: RetentionRules
  private let store: any BundleStore
  private let catalog: any Catalog
  private let queue = BackgroundQueue()
  private let now: @Sendable () -> Date
  private let onExpiration: @Sendable (Expiration) -> Void
  private let onFailure: @Sendable (SnapshotID?, any Error) -> Void
  private let onHold: @Sendable (ExpirationHeld?) -> Void

  /// Keeps `rules` in `store`, whose index is `catalog`.
  /// - Parameters:
  ///   - now: the time of day.
  ///   - onExpiration: told of everything that went.
  ///   - onFailure: told what could not go, or with `nil` that nothing could be looked at; it is tried again by the
  ///     next pass.
  ///   - onHold: told of every run before it begins: what stopped it, or `nil` where it was not stopped.
  public init(
    _ rules: RetentionRules, store: any BundleStore, catalog: any Catalog,
    now: @escaping @Sendable () -> Date = { Date() },
    onExpiration: @escaping @Sendable (Expiration) -> Void = { _ in },
    onFailure: @escaping @Sendable (SnapshotID?, any Error) -> Void = { _, _ in },
    onHold: @escaping @Sendable (ExpirationHeld?) -> Void = { _ in }
  ) {
    self.rules = rules
    self.store = store
    self.catalog = catalog
    self.now = now
    self.onExpiration = onExpiration
    self.onFailure = onFailure
    self.onHold = onHold
  }

  /// What would go now, the oldest first, and why; nothing is changed.
  public func plan() async throws -> RetentionPlan {
    var planner = RetentionPlanner(rules, now: now())
    var total = 0
    try await store.forEachBatch { ids in
      try Task.checkCancellation()
      let summaries = try await store.summaries(ids)
      for summary in summaries { planner.add(summary) }
      total += summaries.count
      await Task.yield()
    }
    let complete = planner
    // A million of them take a second to sort, on a thread that gives way to all others.
    return RetentionPlan(expirations: await queue.perform { complete.plan() }, total: total)
  }

  /// What is to go now, the oldest first; throws ``ExpirationHeld`` where that needs a confirmation.
  /// - Parameter isConfirmed: whether somebody has confirmed it.
  public func due(isConfirmed: Bool = false) async throws -> [Expiration] {
    let plan = try await plan()
    guard isConfirmed || !plan.needsConfirmation else {
      let held = ExpirationHeld(plan)
      onHold(held)
      throw held
    }
    onHold(nil)
    return plan.expirations
  }

  /// Lets go what is to go, one after the other; throws ``ExpirationHeld``, and lets nothing go, where that needs a
  /// confirmation.
  /// - Parameters:
  ///   - limit: how many at most.
  ///   - isConfirmed: whether somebody has confirmed it.
  @discardableResult
  public func run(limit: Int = .max, isConfirmed: Bool = false) async throws -> Outcome {
    try await expire(try await due(isConfirmed: isConfirmed)[...], limit: limit)
  }

  /// Lets go what a plan of a while ago says, as far as it is still so, one after the other.
  /// - Parameter limit: how many at most.
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

  /// Makes a pass every so often until it is cancelled.
  /// - Parameters:
  ///   - delay: how long it waits before the first one.
  ///   - sleep: waits so long, or throws once it is cancelled.
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
        // `onHold` was told, and the next pass looks again.
      } catch {
        onFailure(nil, error)
      }
    }
  }

  /// Deletes a snapshot unless something has come between.
  private func expire(_ expiration: Expiration) async throws -> Bool {
    let now = now()
    let isGone: Bool
    do {
      isGone = try await store.delete(expiration.id) { record in
        guard !record.isPinned else { return false }
        return expiration.rule != .expires || record.expiresAt.map { $0 <= now } ?? false
      }
    } catch .deleted {
      // Whoever deleted it may have ended before it reached the catalogue.
      try await catalog.remove(expiration.id)
      return false
    } catch .notFound {
      return false
    }
    guard isGone else { return false }
    onExpiration(expiration)
    try await catalog.remove(expiration.id)
    return true
  }
}
