import SnapshotFormat
import SnapshotStore
import Synchronization
import SystemIO

/// Plans that were made for a call, for the calls that go on with them within five minutes.
///
/// They may be out of date by then; what goes by one goes only if it still may. What is left to go was confirmed where
/// that was needed.
final class ExpirationPlans: Sendable {
  private struct State: Sendable {
    var shown: (plan: RetentionPlan, madeAt: UInt64)?
    var due: (expirations: ArraySlice<Expiration>, madeAt: UInt64)?
  }

  private static let lifetime: UInt64 = 300_000_000_000

  private let state = Mutex(State())

  /// Keeps what is shown page by page.
  func keepShown(_ plan: RetentionPlan) -> RetentionPlan {
    let now = SystemClock.monotonicNanoseconds
    state.withLock { $0.shown = (plan, now) }
    return plan
  }

  /// What is shown page by page.
  func shown(else make: () async throws -> RetentionPlan) async throws -> RetentionPlan {
    if let shown = state.withLock({ $0.shown }), Self.isFresh(shown.madeAt) { return shown.plan }
    return keepShown(try await make())
  }

  /// Keeps what is left to go.
  func keepDue(_ rest: ArraySlice<Expiration>) {
    let now = SystemClock.monotonicNanoseconds
    state.withLock { $0.due = rest.isEmpty ? nil : (rest, now) }
  }

  /// Takes what is left to go.
  func takeDue(else make: () async throws -> [Expiration]) async throws -> ArraySlice<Expiration> {
    let rest = state.withLock { state in
      defer { state.due = nil }
      return state.due
    }
    if let rest, Self.isFresh(rest.madeAt) { return rest.expirations }
    return try await make()[...]
  }

  private static func isFresh(_ madeAt: UInt64) -> Bool {
    SystemClock.monotonicNanoseconds - madeAt < lifetime
  }
}
