import PostgreSQLStore
import PostgreSQLClient
import PostgreSQLTesting
import SnapshotFormat
package import SnapshotStore
import Testing

/// The implementations of ``ChangeIntents``.
package enum ChangeIntentsKind: CaseIterable, Sendable {
  case memory, postgresql

  /// The implementations that can be tested on this machine.
  package static let allCases: [ChangeIntentsKind] =
    PostgreSQLServer.isInstalled ? [.memory, .postgresql] : [.memory]

  /// Runs `body` with an empty table, and a function that makes all intents older.
  package func withIntents(
    _ body: (_ intents: any ChangeIntents, _ age: (Duration) async throws -> Void) async throws -> Void
  ) async throws {
    switch self {
    case .memory:
      let intents = InMemoryChangeIntents()
      try await body(intents) { intents.age(by: $0) }
    case .postgresql:
      try await withDatabase { configuration in
        let catalog = try await PostgreSQLCatalog.open(configuration)
        let admin = PostgreSQLPool(configuration)
        defer {
          catalog.close()
          admin.close()
        }
        try await body(catalog) { age in
          try await admin.perform { connection in
            _ = try connection.query(
              "UPDATE snapshot_catalog_1.unindexed SET noted = noted - $1 * interval '1 microsecond'",
              [.int(age.microseconds)])
          }
        }
      }
    }
  }
}

/// The guarantees of ``ChangeIntents``, tested with every implementation.
@Suite struct ChangeIntentsConformance {
  private static let hour = Duration.seconds(3600)

  private static func changes(_ count: Int) -> [ChangeIntent] {
    (0..<count).map { ChangeIntent(SnapshotID(), of: SnapshotID(), isCreation: $0 % 2 == 0) }
  }

  @Test(arguments: ChangeIntentsKind.allCases)
  func `intents are found by their age, the oldest first`(kind: ChangeIntentsKind) async throws {
    try await kind.withIntents { intents, age in
      let changes = Self.changes(6)
      for change in changes {
        try await intents.write([change], removing: [])
        try await age(.seconds(60))
      }
      #expect(try await intents.overdue(.seconds(230), limit: 100) == Array(changes[..<3]))
      #expect(try await intents.overdue(.zero, limit: 2) == Array(changes[..<2]))
      #expect(try await intents.overdue(Self.hour, limit: 100).isEmpty)
    }
  }

  @Test(arguments: ChangeIntentsKind.allCases)
  func `intents are removed with the ones that are added`(kind: ChangeIntentsKind) async throws {
    try await kind.withIntents { intents, age in
      let changes = Self.changes(4)
      try await intents.write(Array(changes[..<3]), removing: [])
      try await intents.write([changes[3]], removing: Array(changes[..<2]))
      try await intents.write([], removing: [])
      try await age(Self.hour)
      #expect(Set(try await intents.overdue(.zero, limit: 100)) == Set(changes[2...]))
      try await intents.write([], removing: changes)
      #expect(try await intents.overdue(.zero, limit: 100).isEmpty)
    }
  }

  @Test(arguments: ChangeIntentsKind.allCases)
  func `an intent that was made new again is not removed as an old one`(kind: ChangeIntentsKind) async throws
  {
    try await kind.withIntents { intents, age in
      let changes = Self.changes(2)
      try await intents.write(changes, removing: [])
      try await age(Self.hour)
      let overdue = try await intents.overdue(.seconds(60), limit: 100)
      try await intents.write([changes[0]], removing: [])
      try await intents.remove(overdue, olderThan: .seconds(60))
      try await age(Self.hour)
      #expect(try await intents.overdue(.zero, limit: 100) == [changes[0]])
    }
  }

  @Test(arguments: ChangeIntentsKind.allCases)
  func `a snapshot has an intent for each of its changes`(kind: ChangeIntentsKind) async throws {
    try await kind.withIntents { intents, age in
      let id = SnapshotID()
      let changes = (0..<3).map { _ in ChangeIntent(SnapshotID(), of: id) }
      try await intents.write(changes, removing: [])
      try await intents.write([], removing: [changes[1]])
      try await age(Self.hour)
      #expect(Set(try await intents.overdue(.zero, limit: 100)) == [changes[0], changes[2]])
    }
  }
}
