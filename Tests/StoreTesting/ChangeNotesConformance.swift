import PostgreSQLStore
import PostgreSQLClient
import PostgreSQLTesting
import SnapshotFormat
package import SnapshotStore
import Testing

/// The implementations of ``ChangeNotes``.
package enum ChangeNotesKind: CaseIterable, Sendable {
  case memory, postgresql

  /// The implementations that can be tested on this machine.
  package static let allCases: [ChangeNotesKind] =
    PostgreSQLServer.isInstalled ? [.memory, .postgresql] : [.memory]

  /// Runs `body` with an empty table, and a function that makes all notes older.
  package func withNotes(
    _ body: (_ notes: any ChangeNotes, _ age: (Duration) async throws -> Void) async throws -> Void
  ) async throws {
    switch self {
    case .memory:
      let notes = InMemoryChangeNotes()
      try await body(notes) { notes.age(by: $0) }
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

/// The guarantees of ``ChangeNotes``, tested with every implementation.
@Suite struct ChangeNotesConformance {
  private static let hour = Duration.seconds(3600)

  private static func changes(_ count: Int) -> [NotedChange] {
    (0..<count).map { NotedChange(SnapshotID(), of: SnapshotID(), isCreation: $0 % 2 == 0) }
  }

  @Test(arguments: ChangeNotesKind.allCases)
  func `notes are found by their age, the oldest first`(kind: ChangeNotesKind) async throws {
    try await kind.withNotes { notes, age in
      let changes = Self.changes(6)
      for change in changes {
        try await notes.write([change], removing: [])
        try await age(.seconds(60))
      }
      #expect(try await notes.overdue(.seconds(230), limit: 100) == Array(changes[..<3]))
      #expect(try await notes.overdue(.zero, limit: 2) == Array(changes[..<2]))
      #expect(try await notes.overdue(Self.hour, limit: 100).isEmpty)
    }
  }

  @Test(arguments: ChangeNotesKind.allCases)
  func `notes are removed with the ones that are added`(kind: ChangeNotesKind) async throws {
    try await kind.withNotes { notes, age in
      let changes = Self.changes(4)
      try await notes.write(Array(changes[..<3]), removing: [])
      try await notes.write([changes[3]], removing: Array(changes[..<2]))
      try await notes.write([], removing: [])
      try await age(Self.hour)
      #expect(Set(try await notes.overdue(.zero, limit: 100)) == Set(changes[2...]))
      try await notes.write([], removing: changes)
      #expect(try await notes.overdue(.zero, limit: 100).isEmpty)
    }
  }

  @Test(arguments: ChangeNotesKind.allCases)
  func `a note that was made new again is not removed as an old one`(kind: ChangeNotesKind) async throws {
    try await kind.withNotes { notes, age in
      let changes = Self.changes(2)
      try await notes.write(changes, removing: [])
      try await age(Self.hour)
      let overdue = try await notes.overdue(.seconds(60), limit: 100)
      try await notes.write([changes[0]], removing: [])
      try await notes.remove(overdue, olderThan: .seconds(60))
      try await age(Self.hour)
      #expect(try await notes.overdue(.zero, limit: 100) == [changes[0]])
    }
  }

  @Test(arguments: ChangeNotesKind.allCases)
  func `a snapshot has a note for each of its changes`(kind: ChangeNotesKind) async throws {
    try await kind.withNotes { notes, age in
      let id = SnapshotID()
      let changes = (0..<3).map { _ in NotedChange(SnapshotID(), of: id) }
      try await notes.write(changes, removing: [])
      try await notes.write([], removing: [changes[1]])
      try await age(Self.hour)
      #expect(Set(try await notes.overdue(.zero, limit: 100)) == [changes[0], changes[2]])
    }
  }
}
