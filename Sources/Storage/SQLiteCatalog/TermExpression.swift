import GRDB
import SnapshotStore

/// Writes conditions on terms as expressions of FTS5.
///
/// FTS5 reads the places of a term lazily, newest first, also those of several terms joined by `OR`. But for the
/// beginning of a word it first reads the places of all words that begin with it, unless the beginning has one of
/// ``Schema/prefixLengths``. So that a page takes the same time however many records match, longer beginnings are
/// replaced by the words that begin with them.
enum TermExpression {
  /// The maximum number of words by which the beginning of a word is replaced. If there are more, each is rare, and
  /// FTS5 reads them all.
  static let expansions = 500

  /// Selects the first term at or after a text.
  static let nextTermSQL = "SELECT term FROM dictionary WHERE term >= ? LIMIT 1"

  /// Selects the first words between two texts.
  static let wordsSQL = "SELECT word FROM word WHERE word >= ? AND word < ? ORDER BY word LIMIT ?"

  /// Returns the expression of a condition; `nil` if no record can meet it.
  static func of(_ condition: SearchCondition, _ db: Database) throws -> String? {
    let alternatives = try condition.alternatives.compactMap { try of($0, db) }
    return alternatives.count > 1 ? "(" + alternatives.joined(separator: " OR ") + ")" : alternatives.first
  }

  /// Returns an expression that at least one of `terms` satisfies.
  static func anyOf(_ terms: [String]) -> String { "(" + terms.map(quoted).joined(separator: " OR ") + ")" }

  /// Returns the expression of terms that must all occur; `nil` if one of them does not exist.
  private static func of(_ terms: [SearchCondition.Term], _ db: Database) throws -> String? {
    var parts: [String] = []
    for term in terms {
      guard let part = try of(term, db) else { return nil }
      parts.append(part)
    }
    return "(" + parts.joined(separator: " AND ") + ")"
  }

  private static func of(_ term: SearchCondition.Term, _ db: Database) throws -> String? {
    guard term.isPrefix else { return quoted(term.text) }
    let prefix = quoted(term.text) + " *"
    guard !Schema.prefixLengths.contains(term.text.unicodeScalars.count) else { return prefix }
    let terms =
      try Schema.isProperty(term.text)
      ? terms(beginningWith: term.text, db) : words(beginningWith: term.text, db)
    guard let terms else { return prefix }
    return terms.isEmpty ? nil : anyOf(terms)
  }

  /// Returns the terms of properties that begin with `prefix`; `nil` if there are more than ``expansions``.
  ///
  /// Each term is looked up alone, because the dictionary reads all places of a term before it continues to the next.
  private static func terms(beginningWith prefix: String, _ db: Database) throws -> [String]? {
    let statement = try db.cachedStatement(sql: nextTermSQL)
    var terms: [String] = []
    var start = prefix
    while let term = try String.fetchOne(statement, arguments: [start]), term.utf8.starts(with: prefix.utf8) {
      guard terms.count < expansions else { return nil }
      terms.append(term)
      // Control characters are in no term.
      start = term + "\u{1}"
    }
    return terms
  }

  /// Returns the words that begin with `prefix`; `nil` if there are more than ``expansions``.
  private static func words(beginningWith prefix: String, _ db: Database) throws -> [String]? {
    let words = try String.fetchAll(
      db.cachedStatement(sql: wordsSQL), arguments: [prefix, prefix + "\u{10FFFF}", expansions + 1])
    return words.count <= expansions ? words : nil
  }

  private static func quoted(_ term: String) -> String { "\"\(term)\"" }
}
