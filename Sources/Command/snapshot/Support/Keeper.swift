import SnapshotClient
import SnapshotFormat
import SnapshotStore

/// What looks after a store for a command.
protocol Keeper: Sendable {
  /// Deletes a snapshot for good.
  func delete(_ id: SnapshotID) async throws
  /// Says how long a snapshot stays; what is `nil` is left as it is.
  func change(_ id: SnapshotID, isPinned: Bool?, end: SnapshotEnd?) async throws -> SnapshotRecord
  /// Tells what would go by the rules, the oldest first, and why.
  /// - Returns: whether so many go only when that is confirmed.
  func plan(_ tell: (Expiration) -> Void) async throws -> Bool
  /// Lets go what is to go by the rules, and tells what went.
  /// - Parameter isConfirmed: whether it may be more than a fifth of all snapshots.
  /// - Returns: how many more are to go, and can't.
  func expire(isConfirmed: Bool, _ tell: (Expiration) -> Void) async throws -> Int
  /// Looks at every bundle.
  func scrub() async throws -> ScrubReport
}

/// Has a server look after its store.
struct ServerKeeper: Keeper {
  let client: SnapshotAPIClient

  func delete(_ id: SnapshotID) async throws { try await client.delete(id) }

  func change(_ id: SnapshotID, isPinned: Bool?, end: SnapshotEnd?) async throws -> SnapshotRecord {
    try await client.change(id, isPinned: isPinned, end: end)
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
      let outcome = try await client.expire(isConfirmed: isConfirmed)
      outcome.expirations.forEach(tell)
      // Where nothing went, nothing more can.
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
