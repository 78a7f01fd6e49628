import PostgreSQLClient

/// The tables of the index, in a schema of their own, which can be dropped while no server runs: the index is then
/// rebuilt.
///
/// - `snapshot`: one row for each record, and for each id that was removed recently. The unique `id` is what makes
///   concurrent changes of one record wait for each other. The inverted index `terms` contains the terms of each record,
///   and exists only while the index is complete or nearly so: it takes much less time to build it over all records.
///   `identifiers` is the number of the first terms that are those of the identifiers. The rows are short, because what
///   is large is stored out of line: a search reads many rows, and a page the records of a few.
/// - `word`: the words, among which the longer beginnings of words are looked up. Words of former records remain.
/// - `day`: numbers of records and bytes received per day. Every change adds rows, so that servers do not wait for each
///   other; they are summed up from time to time.
/// - `state`: one row.
/// - `unindexed`: the notes of changes that the index possibly lacks, which are lost with it and never without it.
enum Schema {
  /// The name of the schema.
  static let name = "snapshot_catalog_1"

  /// A step that changes the meaning of rows, or the terms, replaces the tables and starts a new generation, so that a
  /// server builds the index again. The notes remain: what a server of a former version changes meanwhile stays noted,
  /// because its statements fail, until a newer one indexes it.
  static let migrations = PostgreSQLMigrations(
    schema: name,
    [
      // What the first steps did to tables that the last one replaces is left out.
      .init(
        """
        CREATE TABLE state (generation bigint NOT NULL, phase bigint NOT NULL);
        INSERT INTO state VALUES (1, 0);
        """),
      .init(
        """
        CREATE TABLE unindexed (
          number bytea PRIMARY KEY, id bytea NOT NULL, noted timestamptz NOT NULL DEFAULT now());
        CREATE INDEX unindexed_noted ON unindexed (noted);
        """, isCompatible: true),
      .init("", isCompatible: true),
      .init(
        """
        ALTER TABLE unindexed ADD creation boolean NOT NULL DEFAULT false;
        CREATE INDEX unindexed_id ON unindexed (id);
        """, isCompatible: true),
      .init(""),
      .init(
        """
        DROP TABLE IF EXISTS snapshot;
        DROP TABLE IF EXISTS posting, built, block, version, day, word;
        CREATE TABLE snapshot (
          id bytea PRIMARY KEY, received bigint, size bigint, pending boolean, length bigint, report text COLLATE "C",
          application bytea, version bytea, manifest bytea, document bytea, revision bigint, attempt bytea,
          identifiers integer, terms text[] COLLATE "C", removed timestamptz
        ) WITH (fillfactor = 90, toast_tuple_target = 128);
        ALTER TABLE snapshot ALTER document SET STORAGE EXTERNAL, ALTER terms SET STORAGE EXTERNAL;
        CREATE INDEX newest ON snapshot (received, id);
        CREATE INDEX version ON snapshot (version);
        CREATE INDEX manifest ON snapshot (manifest);
        CREATE INDEX removed ON snapshot (removed) WHERE removed IS NOT NULL;
        CREATE TABLE word (word text COLLATE "C" PRIMARY KEY);
        CREATE TABLE day (day bigint NOT NULL, count bigint NOT NULL, bytes bigint NOT NULL);
        CREATE INDEX day_number ON day (day);
        ALTER TABLE state DROP IF EXISTS phase, ADD IF NOT EXISTS complete boolean NOT NULL DEFAULT false;
        UPDATE state SET generation = generation + 1, complete = false;
        """),
    ])

  /// Builds the inverted index, while records can be changed. It is always up to date, so that a search takes no longer
  /// after many changes.
  static let createTerms =
    "CREATE INDEX CONCURRENTLY terms ON snapshot USING gin (terms) WITH (fastupdate = off)"
  /// Removes the inverted index, also what an attempt to build it has left.
  static let dropTerms = "DROP INDEX IF EXISTS terms"

  /// What each connection executes first. Every search can use an index. The planner would rather read all rows for a
  /// frequent term, because it doesn't know how long it takes to read terms that are stored out of line.
  static let session = """
    SET search_path = \(name), public; SET enable_seqscan = off; SET work_mem = '32MB'; SET jit = off
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
