import GRDB

/// The tables of the database.
///
/// - `snapshot`: one row for each record, in the order of insertion. Rows are large, and any other order would insert each
///   into the middle of the table.
/// - `listing`: one row for each ``Place``, which is unique, with the values that are counted.
/// - `term`: the inverted index of search terms by place. A search merges lists of places, which have the order of
///   `listing`. The table keeps no text: to remove a row, its terms are computed again from the row's `record` and
///   `identifiers`. FTS5 also indexes the beginnings of terms that have ``prefixLengths``.
/// - `dictionary`: the terms of `term` in their order, to find the UUIDs that begin with some digits.
/// - `word`: the words among the terms that are longer than ``prefixLengths``, to find those that begin with the letters
///   of a search. `dictionary` would read all places of a word to find the next one. A word remains when its last record
///   is removed.
/// - `version`: the distinct versions, to find the groups of versions that make up a range.
/// - `day`: the number of records received on each day and the bytes of their bundles. Days are in UTC, counted from 1
///   January 1970.
/// - `removed`: the ids removed since the database was opened.
/// - `state`: whether the index is complete, and whether it was closed.
enum Schema {
  /// The version of the rows' and terms' meaning. A database with another version is rebuilt.
  static let format = 11

  /// The lengths, in characters, of the beginnings of terms that have an index of their own. Each takes time when a
  /// record is written; longer beginnings have few enough terms to be looked up one by one.
  static let prefixLengths = 2...3

  /// Whether a term is that of a property, and not a word.
  static func isProperty(_ term: String) -> Bool { term.utf8.first == UInt8(ascii: "|") }

  /// Whether a term is a word that ``prefixLengths`` do not cover.
  static func isLongWord(_ term: String) -> Bool {
    term.utf8.count > prefixLengths.upperBound && !isProperty(term)
  }

  /// Migrations that keep the indexed rows valid. A change of their meaning raises ``format`` instead.
  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1", foreignKeyChecks: .immediate) { db in
      try db.execute(
        sql: """
          CREATE TABLE snapshot (
            number INTEGER PRIMARY KEY, place INTEGER NOT NULL, id BLOB NOT NULL UNIQUE, received INTEGER NOT NULL,
            size INTEGER NOT NULL, report TEXT NOT NULL, version BLOB NOT NULL, pending INTEGER NOT NULL,
            record BLOB NOT NULL, identifiers TEXT NOT NULL, revision INTEGER NOT NULL
          ) STRICT;
          CREATE TABLE listing (
            place INTEGER PRIMARY KEY, number INTEGER NOT NULL, received INTEGER NOT NULL, size INTEGER NOT NULL
          ) STRICT;
          CREATE VIRTUAL TABLE term USING fts5(
            description, identifiers, tokenize = "ascii tokenchars '|'", detail = none, columnsize = 0,
            prefix = '\(prefixLengths.map { "\($0)" }.joined(separator: " "))', content = '');
          CREATE VIRTUAL TABLE dictionary USING fts5vocab(term, instance);
          CREATE TABLE word (word TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
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
