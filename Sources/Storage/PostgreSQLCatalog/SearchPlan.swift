import PostgreSQLClient
import SnapshotStore

/// A query in the form that is executed: a condition on terms, within a range of places.
struct SearchPlan {
  /// A condition on the terms of a record. Terms are numbered by their positions in ``SearchPlan/terms``.
  indirect enum Condition {
    case term(Int)
    /// Every one of these.
    case all([Condition])
    /// At least one of these.
    case any([Condition])
  }

  /// The conditions that are checked on each record, because they cannot be expressed as terms.
  struct Filter {
    var versions: VersionRange?
    var scope: ScopeTerms?
  }

  /// The distinct terms.
  private(set) var terms: [String] = []
  /// The conditions that a record must all meet.
  private(set) var conditions: [Condition] = []
  /// The places that a record can have.
  let places: ClosedRange<Int64>
  /// The conditions that remain; `nil` for none.
  private(set) var filter: Filter?

  private var numbers: [String: Int] = [:]

  /// Plans a query; `nil` if it can find nothing.
  init?(_ query: CatalogQuery, olderThan cursor: Cursor?, _ connection: PostgreSQLConnection) throws {
    guard !query.asksForNothing, let times = query.milliseconds else { return nil }
    let last = min(times.upperBound, cursor?.receivedAt ?? .max)
    guard last >= times.lowerBound else { return nil }
    places = Place.range(times.lowerBound...last)
    for condition in query.conditions {
      guard let condition = try self.condition(condition, connection) else { return nil }
      conditions.append(condition)
    }
    var filter = Filter()
    if let range = query.versions {
      var versions = VersionLookup(connection)
      let terms = try range.terms(limit: IndexLimits.alternatives) { try versions.first(from: $0) }
      if let groups = terms {
        guard !groups.isEmpty else { return nil }
        conditions.append(anyOf(groups))
      } else {
        filter.versions = range
      }
    }
    if let scope = query.scope {
      guard let scope = ScopeTerms(scope, limit: IndexLimits.alternatives) else { return nil }
      for terms in scope.conditions { conditions.append(anyOf(terms)) }
      if scope.isFiltered { filter.scope = scope }
    }
    if filter.versions != nil || filter.scope != nil { self.filter = filter }
    if conditions.isEmpty { conditions.append(term(IndexedTerms.all)) }
  }

  private mutating func term(_ text: String) -> Condition {
    if let number = numbers[text] { return .term(number) }
    numbers[text] = terms.count
    terms.append(text)
    return .term(terms.count - 1)
  }

  private mutating func anyOf(_ texts: [String]) -> Condition { .any(texts.map { term($0) }) }

  /// Returns the condition; `nil` if no record can meet it.
  private mutating func condition(
    _ condition: SearchCondition, _ connection: PostgreSQLConnection
  ) throws -> Condition? {
    var alternatives: [Condition] = []
    for terms in condition.alternatives {
      var parts: [Condition] = []
      for found in terms {
        guard let part = try self.condition(found, connection) else { break }
        parts.append(part)
      }
      if parts.count == terms.count { alternatives.append(parts.count == 1 ? parts[0] : .all(parts)) }
    }
    return alternatives.count > 1 ? .any(alternatives) : alternatives.first
  }

  private mutating func condition(
    _ found: SearchCondition.Term, _ connection: PostgreSQLConnection
  ) throws -> Condition? {
    guard found.isPrefix else { return term(found.text) }
    let length = found.text.unicodeScalars.count
    if IndexLimits.prefixLengths.contains(length) {
      return term(IndexedTerms.beginning(found.text, length: length))
    }
    let words = try Self.words(beginningWith: found.text, connection)
    return words.isEmpty ? nil : anyOf(words)
  }

  // MARK: - Lookups

  /// Selects the terms from $1 to $2 one by one, each by a lookup, because a term can have many rows.
  static let wordsSQL = """
    WITH RECURSIVE word (term) AS (
      (SELECT term FROM posting WHERE term >= $1 AND term < $2 ORDER BY term LIMIT 1)
      UNION ALL
      SELECT (SELECT posting.term FROM posting WHERE posting.term > word.term AND posting.term < $2
        ORDER BY posting.term LIMIT 1)
      FROM word WHERE word.term IS NOT NULL)
    SELECT term FROM word WHERE term IS NOT NULL LIMIT $3
    """

  /// Selects all terms from $1 to $2, if they are many.
  static let allWordsSQL = "SELECT DISTINCT term FROM posting WHERE term >= $1 AND term < $2 ORDER BY term"

  /// Selects the first versions at or above a key.
  static let versionsSQL = "SELECT key FROM version WHERE key >= $1 ORDER BY key LIMIT $2"

  /// Returns the terms that begin with `prefix`.
  private static func words(
    beginningWith prefix: String, _ connection: PostgreSQLConnection
  ) throws -> [String] {
    let range: [PostgreSQLValue] = [.text(prefix), .text(prefix + "\u{10FFFF}")]
    let limit = IndexLimits.expansions + 1
    let few = try connection.query(wordsSQL, range + [.int(Int64(limit))]).map { try $0.text(0) }
    return few.count < limit ? few : try connection.query(allWordsSQL, range).map { try $0.text(0) }
  }
}

/// Looks up versions in ascending order. It reads many at once, because a range is made up of many groups.
private struct VersionLookup {
  private let connection: PostgreSQLConnection
  private var keys: ArraySlice<[UInt8]> = []
  private var isComplete = false

  init(_ connection: PostgreSQLConnection) { self.connection = connection }

  /// Returns the first version at or above `lowest`, which is above that of the former call; `nil` if there is none.
  mutating func first(from lowest: [UInt8]) throws -> [UInt8]? {
    keys = keys.drop { $0.lexicographicallyPrecedes(lowest) }
    if keys.isEmpty, !isComplete {
      let rows = try connection.query(
        SearchPlan.versionsSQL, [.bytes(lowest), .int(Int64(IndexLimits.versions))])
      keys = try rows.map { try $0.bytes(0) }[...]
      isComplete = keys.count < IndexLimits.versions
    }
    return keys.first
  }
}

extension SearchPlan.Condition {
  /// The numbers of the terms.
  var terms: [Int] {
    switch self {
    case .term(let number): [number]
    case .all(let parts), .any(let parts): parts.flatMap(\.terms)
    }
  }

  /// Returns the records of a block that meet the condition.
  func slots(_ lists: [Int: SlotSet]) -> SlotSet {
    switch self {
    case .term(let number): return lists[number] ?? SlotSet()
    case .all(let parts):
      var result = parts[0].slots(lists)
      for part in parts.dropFirst() { result.formIntersection(part.slots(lists)) }
      return result
    case .any(let parts):
      var result = SlotSet()
      for part in parts { result.formUnion(part.slots(lists)) }
      return result
    }
  }

  /// Whether a record with these terms meets the condition.
  func isMet(by terms: Set<Int>) -> Bool {
    switch self {
    case .term(let number): terms.contains(number)
    case .all(let parts): parts.allSatisfy { $0.isMet(by: terms) }
    case .any(let parts): parts.contains { $0.isMet(by: terms) }
    }
  }
}
