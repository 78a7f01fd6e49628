import PostgreSQLStore
import PostgreSQLTesting
import SnapshotFormat
import SnapshotStore
import Testing

/// The implementations of ``SettledRecords``.
package enum SettledRecordsKind: CaseIterable, Sendable {
  case memory, postgresql

  /// The implementations that can be tested on this machine.
  package static let allCases: [SettledRecordsKind] =
    PostgreSQLServer.isInstalled ? [.memory, .postgresql] : [.memory]

  /// Runs `body` with an empty catalogue, its intents, and its settled records.
  fileprivate func with(
    _ body: (any Catalog, any ChangeIntents, any SettledRecords) async throws -> Void
  ) async throws {
    switch self {
    case .memory:
      let (catalog, intents) = (InMemoryCatalog(), InMemoryChangeIntents())
      try await body(catalog, intents, InMemorySettledRecords(catalog, intents: intents))
    case .postgresql:
      try await withDatabase { configuration in
        let catalog = try await PostgreSQLCatalog.open(configuration)
        defer { catalog.close() }
        try await body(catalog, catalog, catalog)
      }
    }
  }
}

/// The guarantees of ``SettledRecords``, tested with every implementation.
@Suite struct SettledRecordsConformance {
  @Test(arguments: SettledRecordsKind.allCases)
  func `a record with an attempt is settled as it was last inserted`(kind: SettledRecordsKind) async throws {
    try await kind.with { catalog, _, records in
      var snapshot = try record { $0.attempt = SnapshotID() }
      #expect(try await records.settledRecord(snapshot.id) == nil)
      try await catalog.insert(snapshot)
      #expect(try await records.settledRecord(snapshot.id) == snapshot.settled)
      (snapshot.attempt, snapshot.revision, snapshot.isPinned) = (SnapshotID(), 1, true)
      try await catalog.insert(snapshot)
      #expect(try await records.settledRecord(snapshot.id) == snapshot.settled)
      snapshot.attempt = nil
      try await catalog.insert(snapshot)
      #expect(try await records.settledRecord(snapshot.id) == nil)
    }
  }

  @Test(arguments: SettledRecordsKind.allCases)
  func `a record is not settled while there is an intent of its snapshot`(kind: SettledRecordsKind)
    async throws
  {
    try await kind.with { catalog, intents, records in
      let snapshots = try (0..<2).map { _ in try record { $0.attempt = SnapshotID() } }
      let (changed, other) = (snapshots[0], snapshots[1])
      try await catalog.insert(snapshots)
      let changes = (0..<2).map { _ in ChangeIntent(SnapshotID(), of: changed.id) }
      try await intents.write(changes, removing: [])
      #expect(try await records.settledRecord(changed.id) == nil)
      #expect(try await records.settledRecord(other.id) == other.settled)
      try await intents.write([], removing: [changes[0]])
      #expect(try await records.settledRecord(changed.id) == nil)
      // The record is inserted before the intent of its creation is removed.
      let creation = ChangeIntent(SnapshotID(), of: changed.id, isCreation: true)
      try await intents.write([creation], removing: [changes[1]])
      #expect(try await records.settledRecord(changed.id) == changed.settled)
    }
  }

  @Test(arguments: SettledRecordsKind.allCases)
  func `a record that was removed is never settled again`(kind: SettledRecordsKind) async throws {
    try await kind.with { catalog, _, records in
      let snapshot = try record { $0.attempt = SnapshotID() }
      try await catalog.insert(snapshot)
      try await catalog.remove(snapshot.id)
      #expect(try await records.settledRecord(snapshot.id) == nil)
      try await catalog.insert(snapshot)
      #expect(try await records.settledRecord(snapshot.id) == nil)
    }
  }
}
