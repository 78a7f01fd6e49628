import Foundation
import GRDB

/// What is in the database.
///
/// - `snapshot`: a row for each record, its number a ``Place``, so that newest first is the order of rows.
/// - `term`: what each is found by, an inverted index: whatever a search combines is a merge of lists of rows that are in
///   this order too.
/// - `version`: the versions that occur, to find out which groups of them a range is made of.
/// - `day`: how many records were received on each day in UTC, counted from 1 January 1970, and their bundles' bytes.
/// - `removed`: what was removed since the database was opened.
/// - `state`: whether everything is in it, and whether it was closed.
enum Schema {
  /// What rows and terms mean: with another number the index is made anew.
  static let format = 2

  /// Changes that keep what is indexed; a change of meaning raises ``format`` instead.
  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1") { db in
      try db.execute(
        sql: """
          CREATE TABLE snapshot (
            place INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, received INTEGER NOT NULL, report TEXT NOT NULL,
            version BLOB NOT NULL, pending INTEGER NOT NULL, length INTEGER NOT NULL, record BLOB NOT NULL
          ) STRICT;
          CREATE VIRTUAL TABLE term USING fts5(
            description, identifiers, tokenize = "ascii tokenchars '|'", detail = none, columnsize = 0);
          CREATE TABLE version (key BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;
          CREATE TABLE removed (id BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;
          CREATE TABLE state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
          PRAGMA user_version = \(format);
          """)
    }
    migrator.registerMigration("2") { db in
      try db.execute(
        sql: """
          CREATE TABLE day (
            day INTEGER PRIMARY KEY, count INTEGER NOT NULL, bytes INTEGER NOT NULL
          ) STRICT;
          """)
      var counts = DayCounts()
      let rows = try Row.fetchCursor(db, sql: "SELECT received, \(RecordCoder.beginning) FROM snapshot")
      while let row = try rows.next() { counts.add(1, received: row[0], size: try RecordCoder.size(row[1])) }
      try counts.write(db)
    }
    return migrator
  }
}
