import PostgreSQLClient

/// The tables of the database, in one schema for each part of the server that uses them. A part creates its own when it
/// is opened, and each can be dropped or migrated by itself.
enum Schemas {
  /// The index of the snapshots, which can be dropped while no server runs: it is then rebuilt.
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
  /// - `unindexed`: the intents of changes that the index possibly lacks, which are lost with it and never without it.
  ///
  /// A step that changes the meaning of rows, or the terms, replaces the tables and starts a new generation, so that a
  /// server builds the index again. The intents remain: what a server of a former version changes meanwhile keeps its intent,
  /// because its statements fail, until a newer one indexes it.
  static let catalog = PostgreSQLMigrations(
    schema: "snapshot_catalog_1",
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

  /// The resumable uploads. `epoch` numbers the leases of a row, and `holder` is the server that has the present one.
  static let uploads = PostgreSQLMigrations(
    schema: "snapshot_uploads_1",
    [
      .init(
        """
        CREATE TABLE upload (
          id text COLLATE "C" PRIMARY KEY, document bytea NOT NULL, tail bytea NOT NULL,
          epoch bigint NOT NULL DEFAULT 0, holder bytea, lease_end timestamptz NOT NULL DEFAULT '-infinity')
        """)
    ])

  /// The files with tokens and keys.
  static let tokens = PostgreSQLMigrations(
    schema: "snapshot_access_1",
    [.init("CREATE TABLE file (name text COLLATE \"C\" PRIMARY KEY, contents bytea NOT NULL)")])

  /// The sessions of the web pages, by the digests of their secrets.
  static let sessions = PostgreSQLMigrations(
    schema: "snapshot_sessions_1",
    [
      .init(
        """
        CREATE TABLE session (
          key bytea PRIMARY KEY, token text NOT NULL, began timestamptz NOT NULL DEFAULT now(),
          last_use timestamptz NOT NULL DEFAULT now());
        CREATE INDEX session_token ON session (token, last_use);
        CREATE INDEX session_last_use ON session (last_use);
        """)
    ])

  /// The counters of quotas: the bytes that remained of each when it was last counted.
  static let quotas = PostgreSQLMigrations(
    schema: "snapshot_quotas_1",
    [
      .init(
        """
        CREATE TABLE quota (
          key text COLLATE "C" PRIMARY KEY, bytes bigint NOT NULL, seconds bigint NOT NULL,
          remaining double precision NOT NULL, counted timestamptz NOT NULL)
        """)
    ])

  /// The audit lines of all servers.
  ///
  /// - `server`: when a server last copied its lines.
  /// - `file`: up to which position the table has a file. The row remains when the lines were removed, so that they are
  ///   not copied again.
  /// - `line`: one row for each line. The lines of a file are adjacent in the table and in its primary key, and are removed
  ///   together.
  static let audit = PostgreSQLMigrations(
    schema: "snapshot_audit_1",
    [
      .init(
        """
        CREATE TABLE server (id bytea PRIMARY KEY, seen timestamptz NOT NULL DEFAULT now());
        CREATE TABLE file (
          number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, server bytea NOT NULL, digest bytea NOT NULL,
          refused boolean NOT NULL, position bigint NOT NULL, is_removed boolean NOT NULL DEFAULT false,
          UNIQUE (server, digest));
        CREATE TABLE line (
          file bigint NOT NULL, position bigint NOT NULL, time timestamptz NOT NULL, refused boolean NOT NULL,
          snapshot bytea, compared bytea, line text NOT NULL, PRIMARY KEY (file, position));
        CREATE INDEX line_time ON line (time, file, position);
        CREATE INDEX line_snapshot ON line (snapshot, time) WHERE snapshot IS NOT NULL AND NOT refused;
        CREATE INDEX line_compared ON line (compared, time) WHERE compared IS NOT NULL AND NOT refused;
        """)
    ])

  /// The events that wait to be sent to webhooks, in the tables of ``/Webhooks/SQLiteOutbox``. Besides, `endpoint.named`
  /// is the last time that a server had the endpoint in its settings: while settings are changed at one server after the
  /// other, none removes what another one's settings have.
  static let webhooks = PostgreSQLMigrations(
    schema: "snapshot_webhooks_1",
    [
      .init(
        """
        CREATE TABLE event (
          id text COLLATE "C" PRIMARY KEY, snapshot text COLLATE "C" NOT NULL, body bytea NOT NULL,
          created bigint NOT NULL, held boolean NOT NULL);
        CREATE TABLE endpoint (
          name text COLLATE "C" PRIMARY KEY, waiting bigint NOT NULL DEFAULT 0, delivered bigint NOT NULL DEFAULT 0,
          failed bigint NOT NULL DEFAULT 0, dropped bigint NOT NULL DEFAULT 0,
          disabled boolean NOT NULL DEFAULT false, problem text, named timestamptz NOT NULL DEFAULT now());
        CREATE TABLE delivery (
          sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          endpoint text COLLATE "C" NOT NULL REFERENCES endpoint, event text COLLATE "C" NOT NULL REFERENCES event,
          snapshot text COLLATE "C" NOT NULL, state text COLLATE "C" NOT NULL DEFAULT 'waiting',
          tries bigint NOT NULL DEFAULT 0, due bigint NOT NULL, ended bigint);
        CREATE INDEX delivery_due ON delivery (endpoint, due) WHERE state = 'waiting';
        CREATE INDEX delivery_turn ON delivery (endpoint, snapshot, sequence) WHERE state = 'waiting';
        CREATE INDEX delivery_sequence ON delivery (endpoint, sequence);
        CREATE INDEX delivery_event ON delivery (event);
        CREATE INDEX event_held ON event (created) WHERE held;
        """)
    ])
}
