import SnapshotFormat
import Synchronization
import SystemIO

/// Plans that were made for a call, for the calls that go on with them within five minutes.
///
/// They may be out of date by then; what goes by one goes only if it still may.
final class ExpirationPlans: Sendable {
  private typealias Plan = (expirations: ArraySlice<Expiration>, madeAt: UInt64)
  private static let lifetime: UInt64 = 300_000_000_000

  private let state = Mutex<(shown: Plan?, due: Plan?)>((nil, nil))

  /// Keeps what is shown page by page.
  func keepShown(_ expirations: [Expiration]) -> [Expiration] {
    state.withLock { $0.shown = (expirations[...], SystemClock.monotonicNanoseconds) }
    return expirations
  }

  /// What is shown page by page.
  func shown(else make: () async throws -> [Expiration]) async throws -> [Expiration] {
    if let plan = state.withLock({ Self.fresh($0.shown) }) { return Array(plan) }
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
      return Self.fresh(state.due)
    }
    if let rest { return rest }
    return try await make()[...]
  }

  private static func fresh(_ plan: Plan?) -> ArraySlice<Expiration>? {
    guard let plan, SystemClock.monotonicNanoseconds - plan.madeAt < lifetime else { return nil }
    return plan.expirations
  }
}
