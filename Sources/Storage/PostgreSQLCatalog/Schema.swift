import PostgreSQLClient

/// The tables of the index, in a schema of their own, which can be dropped while no server runs: the index is then
/// rebuilt.
///
/// - `snapshot`: one row for each record, and for each id that was removed recently. The unique `id` is what makes
///   concurrent changes of one record wait for each other.
/// - `posting`: the inverted index. A row says that a record has a term. The records are identified by their places. Old
///   records are packed into blocks of up to ``IndexLimits/block`` records that are consecutive in time; a row then states
///   which records of the block have the term, as a ``SlotSet``. A search therefore reads one row for each term and
///   block, and blocks are in the order of the lists. A build replaces the table; the new one also has the index
///   `packed`.
/// - `built`: while the index is built, the rows for `posting`, which it replaces at the end.
/// - `block`: the places and sizes of the records of a block. Blocks don't overlap. A record that was removed from a
///   block remains in its rows, and is in `gone`.
/// - `version`: the distinct versions, to find the groups of versions that make up a range.
/// - `day`: numbers of records and bytes received per day. Every change adds rows, so that servers do not wait for each
///   other; they are summed up from time to time.
/// - `state`: one row.
/// - `unindexed`: the notes of changes that the index possibly lacks, which are lost with it and never without it.
enum Schema {
  /// The version of the rows' and terms' meaning. It must change with the encoding of records and the terms. Each version
  /// has tables of its own, so that servers of two versions can use one database during an update.
  static let format = 1
  /// The name of the schema.
  static let name = "snapshot_catalog_\(format)"

  static let migrations = PostgreSQLMigrations(
    schema: name,
    [
      .init(
        """
        CREATE TABLE snapshot (
          id bytea PRIMARY KEY, place bigint UNIQUE, received bigint, size bigint, pending boolean, length bigint,
          report text, version bytea, record bytea, identifiers text, removed timestamptz);
        CREATE INDEX removed ON snapshot (removed) WHERE removed IS NOT NULL;
        CREATE TABLE posting (
          term text COLLATE "C", place bigint, slots bytea, PRIMARY KEY (term, place));
        CREATE INDEX loose ON posting (place) WHERE term = '|' AND slots IS NULL;
        CREATE TABLE block (
          key bigint PRIMARY KEY, last bigint NOT NULL, listing bytea NOT NULL, gone bytea);
        ALTER TABLE block ALTER listing SET STORAGE EXTERNAL;
        CREATE TABLE version (key bytea PRIMARY KEY);
        CREATE TABLE day (day bigint NOT NULL, count bigint NOT NULL, bytes bigint NOT NULL);
        CREATE INDEX day_number ON day (day);
        CREATE TABLE state (generation bigint NOT NULL, phase bigint NOT NULL);
        INSERT INTO state VALUES (1, 0);
        """),
      .init(
        """
        CREATE TABLE unindexed (
          number bytea PRIMARY KEY, id bytea NOT NULL, noted timestamptz NOT NULL DEFAULT now());
        CREATE INDEX unindexed_noted ON unindexed (noted);
        """, isCompatible: true),
      .init("ALTER TABLE snapshot ADD revision bigint NOT NULL DEFAULT 0", isCompatible: true),
      .init(
        """
        ALTER TABLE snapshot ADD attempt bytea NOT NULL DEFAULT '';
        ALTER TABLE unindexed ADD creation boolean NOT NULL DEFAULT false;
        CREATE INDEX unindexed_id ON unindexed (id);
        """, isCompatible: true),
    ])

  /// What each connection executes first. All statements of a search are lookups in an index, so that no other plan is
  /// considered: the statistics of a table that grows quickly are always too old.
  static let session = """
    SET search_path = \(name), public;
    SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_bitmapscan = off;
    SET jit = off; SET plan_cache_mode = force_generic_plan
    """

  /// Held shared by every change, and alone by a change of the whole index.
  static let changes = PostgreSQLLockKey("catalog.changes")
  /// Held by the server that builds or packs the index.
  static let maintenance = PostgreSQLLockKey("catalog.maintenance")
}

/// How far the index is built.
enum IndexPhase: Int64 {
  /// Records are only collected.
  case collecting
  /// The collected records are being packed into blocks. Other records are indexed when they are inserted.
  case building
  /// All records are indexed.
  case complete
}
