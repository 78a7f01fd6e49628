import PostgreSQLClient
import PostgreSQLTesting
import SnapshotFormat
import SnapshotStore
import StoreTesting
import TestSupport
import Testing

@testable import PostgreSQLStore

/// A database in which a former version has its index.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL is not installed"))
struct FormerSchemaTests {
  /// The tables of the former version, with an index that a build has replaced.
  private static let tables = """
    CREATE TABLE snapshot (
      id bytea PRIMARY KEY, place bigint UNIQUE, received bigint, size bigint, pending boolean, length bigint,
      report text, version bytea, record bytea, identifiers text, removed timestamptz,
      revision bigint NOT NULL DEFAULT 0, attempt bytea NOT NULL DEFAULT '');
    CREATE INDEX removed ON snapshot (removed) WHERE removed IS NOT NULL;
    CREATE TABLE posting (term text COLLATE "C", place bigint, slots bytea, PRIMARY KEY (term, place));
    CREATE INDEX loose ON posting (place) WHERE term = '|' AND slots IS NULL;
    CREATE INDEX packed ON posting (place) WHERE slots IS NOT NULL;
    CREATE TABLE block (key bigint PRIMARY KEY, last bigint NOT NULL, listing bytea NOT NULL, gone bytea);
    CREATE TABLE version (key bytea PRIMARY KEY);
    CREATE TABLE day (day bigint NOT NULL, count bigint NOT NULL, bytes bigint NOT NULL);
    CREATE INDEX day_number ON day (day);
    """

  @Test(arguments: 1...5)
  func `the index of a former version is built again, and its intents remain`(steps: Int) async throws {
    try await withDatabase { configuration in
      let former = PostgreSQLMigrations(
        schema: Schemas.catalog.schema, Array(Schemas.catalog.steps.prefix(steps)))
      let admin = PostgreSQLPool(configuration)
      defer { admin.close() }
      let intent = ChangeIntent(SnapshotID(), of: SnapshotID(), isCreation: false)
      try await admin.perform { connection throws in
        try former.apply(connection)
        try connection.execute("SET search_path = \(Schemas.catalog.schema);" + Self.tables)
        try connection.execute(
          """
          UPDATE state SET generation = 7, phase = 2;
          INSERT INTO snapshot (id, place, received) VALUES ('a', 1, 1);
          INSERT INTO posting VALUES ('|', 1, NULL);
          CREATE TABLE built (LIKE posting)
          """)
        guard steps > 1 else { return }
        _ = try connection.query(
          "INSERT INTO unindexed (number, id) VALUES ($1, $2)",
          [.bytes(Array(intent.number.bytes)), .bytes(Array(intent.snapshot.bytes))])
      }
      let catalog = try await PostgreSQLCatalog.open(configuration)
      defer { catalog.close() }
      #expect(try await catalog.state() == CatalogState(extent: .nothing, generation: 8))
      let tables = try await admin.perform { connection throws in
        try connection.query(
          "SELECT tablename::text FROM pg_tables WHERE schemaname = $1 ORDER BY 1",
          [.text(Schemas.catalog.schema)]
        ).map { try $0.text(0) }
      }
      #expect(tables == ["day", "schema_version", "snapshot", "state", "unindexed", "word"])
      #expect(try await catalog.overdue(.zero, limit: 10) == (steps > 1 ? [intent] : []))
      let record = try record()
      try await catalog.insert(record)
      try await catalog.complete(generation: 8)
      #expect(try await catalog.page(CatalogQuery(), PageRequest()).records == [record])
    }
  }

  @Test func `rows in which a former version has encoded the records are replaced`() async throws {
    try await withDatabase { configuration in
      try await PostgreSQLCatalog.open(configuration).close()
      let admin = PostgreSQLPool(configuration)
      defer { admin.close() }
      try await admin.perform { connection throws in
        try connection.execute(
          """
          SET search_path = \(Schemas.catalog.schema);
          ALTER TABLE snapshot RENAME document TO record;
          INSERT INTO snapshot (id, received, record) VALUES ('a', 1, 'b');
          UPDATE state SET complete = true;
          UPDATE schema_version SET version = 5, required = 5
          """)
      }
      let catalog = try await PostgreSQLCatalog.open(configuration)
      defer { catalog.close() }
      #expect(try await catalog.state() == CatalogState(extent: .nothing, generation: 3))
      let record = try record()
      try await catalog.insert(record)
      try await catalog.complete(generation: 3)
      #expect(try await catalog.page(CatalogQuery(), PageRequest()).records == [record])
    }
  }

  @Test func `a server of the former version can't change the new tables`() async throws {
    try await withDatabase { configuration in
      let catalog = try await PostgreSQLCatalog.open(configuration)
      defer { catalog.close() }
      let admin = PostgreSQLPool(configuration)
      defer { admin.close() }
      // Each of its changes begins with such a statement.
      for statement in [
        "SELECT generation, phase FROM state", "INSERT INTO snapshot (id, record) VALUES ('a', '')",
      ] {
        await #expect(throws: PostgreSQLError.self) {
          try await admin.perform { connection throws in
            try connection.execute("SET search_path = \(Schemas.catalog.schema); \(statement)")
          }
        }
      }
    }
  }
}
