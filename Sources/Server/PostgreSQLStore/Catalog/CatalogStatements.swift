import PostgreSQLClient

/// The statements about the catalogue as a whole.
enum CatalogStatements {
  /// Builds the inverted index, while records can be changed. It is always up to date, so that a search takes no longer
  /// after many changes.
  static let createTerms =
    "CREATE INDEX CONCURRENTLY terms ON snapshot USING gin (terms) WITH (fastupdate = off)"
  /// Removes the inverted index, also what an attempt to build it has left.
  static let dropTerms = "DROP INDEX IF EXISTS terms"

  /// What each connection executes first. Every search can use an index. The planner would rather read all rows for a
  /// frequent term, because it doesn't know how long it takes to read terms that are stored out of line.
  static let session = """
    SET search_path = \(Schemas.catalog.schema), public; SET enable_seqscan = off; SET work_mem = '32MB'; SET jit = off
    """

  /// Held by the server that builds the index or tidies up.
  static let maintenance = PostgreSQLLockKey("catalog.maintenance")
}

/// The row of the table `state`.
struct IndexState {
  let generation: Int
  /// Whether all records are indexed.
  let isComplete: Bool

  static func read(_ connection: PostgreSQLConnection) throws -> IndexState {
    guard let row = try connection.query("SELECT generation, complete FROM state").first else {
      throw PostgreSQLError.unexpectedResult("The table state is empty.")
    }
    return IndexState(generation: Int(try row.int(0)), isComplete: try row.bool(1))
  }
}
