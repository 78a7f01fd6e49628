/// The numbered changes that make up the tables of one part of a program. Several servers can apply them at the same
/// time: each is applied once.
package struct PostgreSQLMigrations: Sendable {
  /// A change of the tables.
  package struct Step: Sendable {
    /// The statements.
    package var sql: String
    /// Whether servers that do not know this step can work with the changed tables.
    package var isCompatible: Bool

    /// Creates a step.
    package init(_ sql: String, isCompatible: Bool = false) {
      self.sql = sql
      self.isCompatible = isCompatible
    }
  }

  /// The schema that contains the tables. Dropping it undoes all steps.
  package let schema: String
  /// The steps in their order. Steps are only ever appended.
  package let steps: [Step]

  /// Creates migrations.
  package init(schema: String, _ steps: [Step]) {
    self.schema = schema
    self.steps = steps
  }

  /// Applies the missing steps in one transaction, with the schema as the first of the search path.
  ///
  /// Throws ``PostgreSQLError/newerDatabase(name:version:)`` if a newer version applied steps that this one cannot work
  /// with.
  package func apply(_ connection: PostgreSQLConnection) throws {
    try connection.transaction { connection in
      try connection.lock(PostgreSQLLockKey("migrations"))
      try connection.execute(
        """
        CREATE SCHEMA IF NOT EXISTS \(schema);
        SET LOCAL search_path = \(schema), public;
        CREATE TABLE IF NOT EXISTS \(schema).schema_version (
          is_only boolean PRIMARY KEY, version integer NOT NULL, required integer NOT NULL)
        """)
      let row = try connection.query("SELECT version, required FROM \(schema).schema_version").first
      let version = Int(try row?.int(0) ?? 0)
      guard Int(try row?.int(1) ?? 0) <= steps.count else {
        throw PostgreSQLError.newerDatabase(name: schema, version: version)
      }
      guard version < steps.count else { return }
      for step in steps[version...] { try connection.execute(step.sql) }
      let required = steps.lastIndex { !$0.isCompatible }.map { $0 + 1 } ?? 0
      _ = try connection.query(
        """
        INSERT INTO \(schema).schema_version VALUES (true, $1::bigint, $2::bigint)
        ON CONFLICT (is_only) DO UPDATE SET version = excluded.version, required = excluded.required
        """, [.int(Int64(steps.count)), .int(Int64(required))])
    }
  }
}
