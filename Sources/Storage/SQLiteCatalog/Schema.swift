import GRDB

/// What is in the database.
///
/// - `snapshot`: a row for each record, in the order in which they came: rows are large, and whoever makes the catalogue
///   anew brings them by their ids, so that in any other order each would be put between two that lie elsewhere.
/// - `listing`: the rows by their ``Place``, no two of which share one, so that newest first is its order; with what is
///   counted of each.
/// - `term`: what each is found by, an inverted index: whatever a search combines is a merge of lists of places that are
///   in this order too. It keeps no text: what is taken out of it is made once more, of the row's `record` and the terms
///   of its `identifiers`.
/// - `version`: the versions that occur, to find out which groups of them a range is made of.
/// - `day`: how many records were received on each day in UTC, counted from 1 January 1970, and their bundles' bytes.
/// - `removed`: what was removed since the database was opened.
/// - `state`: whether everything is in it, and whether it was closed.
enum Schema {
  /// What rows and terms mean: with another number the index is made anew.
  static let format = 5

  /// Changes that keep what is indexed; a change of meaning raises ``format`` instead.
  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1") { db in
      try db.execute(
        sql: """
          CREATE TABLE snapshot (
            number INTEGER PRIMARY KEY, place INTEGER NOT NULL, id BLOB NOT NULL UNIQUE, received INTEGER NOT NULL,
            size INTEGER NOT NULL, report TEXT NOT NULL, version BLOB NOT NULL, pending INTEGER NOT NULL,
            length INTEGER NOT NULL, record BLOB NOT NULL, identifiers TEXT NOT NULL
          ) STRICT;
          CREATE TABLE listing (
            place INTEGER PRIMARY KEY, number INTEGER NOT NULL, received INTEGER NOT NULL, size INTEGER NOT NULL
          ) STRICT;
          CREATE VIRTUAL TABLE term USING fts5(
            description, identifiers, tokenize = "ascii tokenchars '|'", detail = none, columnsize = 0,
            content = '');
          CREATE TABLE version (key BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;
          CREATE TABLE day (
            day INTEGER PRIMARY KEY, count INTEGER NOT NULL, bytes INTEGER NOT NULL
          ) STRICT;
          CREATE TABLE removed (id BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;
          CREATE TABLE state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
          PRAGMA user_version = \(format);
          """)
    }
    return migrator
  }
}
