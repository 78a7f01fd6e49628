import Observability
import SnapshotClient
import SnapshotFormat
import SnapshotStore

/// Maintains a store on behalf of a command.
protocol Maintainer: Sendable {
  /// Deletes a snapshot permanently.
  func delete(_ id: SnapshotID) async throws
  /// Changes the pin, the mark or the expiration of a snapshot; `nil` leaves it unchanged.
  func change(
    _ id: SnapshotID, isPinned: Bool?, isGood: Bool?, end: SnapshotEnd?
  ) async throws -> SnapshotRecord
  /// Calls `tell` with each expired snapshot, oldest first, and deletes nothing.
  /// - Returns: whether deleting them requires a confirmation.
  func plan(_ tell: (Expiration) -> Void) async throws -> Bool
  /// Deletes the expired snapshots, and calls `tell` with each.
  /// - Parameter isConfirmed: whether more than a fifth of all snapshots can be deleted, and the clock is right.
  /// - Returns: the number of expired snapshots that could not be deleted.
  func expire(isConfirmed: Bool, _ tell: (Expiration) -> Void) async throws -> Int
  /// Checks the digest of every bundle.
  func scrub() async throws -> ScrubReport
}

/// Maintains the store of a running server.
struct ServerMaintainer: Maintainer {
  let client: SnapshotAPIClient

  func delete(_ id: SnapshotID) async throws { try await client.delete(id) }

  func change(
    _ id: SnapshotID, isPinned: Bool?, isGood: Bool?, end: SnapshotEnd?
  ) async throws -> SnapshotRecord {
    try await client.change(id, isPinned: isPinned, isGood: isGood, end: end)
  }

  func plan(_ tell: (Expiration) -> Void) async throws -> Bool {
    var cursor: String?
    var needsConfirmation: Bool
    repeat {
      let page = try await client.expirations(after: cursor)
      page.expirations.forEach(tell)
      (cursor, needsConfirmation) = (page.next, page.needsConfirmation)
    } while cursor != nil
    return needsConfirmation
  }

  func expire(isConfirmed: Bool, _ tell: (Expiration) -> Void) async throws -> Int {
    while true {
      let outcome: SnapshotAPIClient.Expired
      do {
        outcome = try await client.expire(isConfirmed: isConfirmed)
      } catch {
        guard let problem = error.problem, problem.type == ProblemKind.confirmationNeeded.type else {
          throw error
        }
        throw CommandFailure(problem.detail ?? problem.title)
      }
      outcome.expirations.forEach(tell)
      // A request that deleted nothing shows that the remaining snapshots cannot be deleted.
      if outcome.remaining == 0 || outcome.expirations.isEmpty { return outcome.remaining }
    }
  }

  func scrub() async throws -> ScrubReport {
    var report = try await client.startScrub()
    var pause = Duration.milliseconds(50)
    while report.isRunning {
      try await Task.sleep(for: pause)
      pause = min(pause * 2, .seconds(5))
      report = try await client.scrubReport()
    }
    return report
  }
}
