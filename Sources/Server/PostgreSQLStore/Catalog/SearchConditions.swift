import PostgreSQLClient
import SnapshotStore

/// The parameters of a statement that is being written.
struct Parameters {
  private(set) var values: [PostgreSQLValue] = []

  /// Adds a parameter, and returns its name.
  mutating func callAsFunction(_ value: PostgreSQLValue) -> String {
    values.append(value)
    return "$\(values.count)"
  }
}

/// The conditions of a query in SQL, except its times.
///
/// They are written in two ways that mean the same. To check a row, the beginning of a word is compared with each term
/// of the row. To find rows by an index, the words with this beginning are looked up first.
struct SearchConditions {
  /// Returns the words with a beginning; `nil` if there are too many.
  typealias WordLookup = (_ beginning: String) throws -> [String]?

  private let conditions: [SearchCondition]
  private let versions: VersionRange?
  private let scope: CatalogQuery.Scope?
  private let scopeTerms: ScopeTerms?

  /// Reads a query; `nil` if it can find nothing.
  init?(_ query: CatalogQuery) {
    guard !query.matchesNothing else { return nil }
    (conditions, versions, scope) = (query.conditions, query.versions, query.scope)
    scopeTerms = scope.flatMap { ScopeTerms($0, limit: IndexLimits.alternatives) }
    if scope != nil, scopeTerms == nil { return nil }
  }

  /// Whether an index finds the rows, other than that of the times.
  var areIndexed: Bool { !conditions.isEmpty || versions != nil || scopeTerms?.conditions.isEmpty == false }

  /// Writes the conditions; `nil` if no row can meet them.
  /// - Parameter words: looks up words, to find rows by an index; `nil` to check rows.
  func sql(_ bind: inout Parameters, _ words: WordLookup?) throws -> String? {
    let simple = conditions.filter { $0.alternatives.count == 1 }.flatMap { $0.alternatives[0] }
    guard var parts = try Self.all(simple, &bind, words) else { return nil }
    for condition in conditions where condition.alternatives.count > 1 {
      guard let part = try Self.any(condition.alternatives, &bind, words) else { return nil }
      parts.append(part)
    }
    if let versions {
      parts.append("version >= \(bind(.bytes(versions.lower.bytes)))")
      if let upper = versions.upper { parts.append("version < \(bind(.bytes(upper.bytes)))") }
    }
    if let scope, let scopeTerms {
      if words != nil { parts += scopeTerms.conditions.map { "terms && \(bind(.texts($0)))" } }
      if words == nil || scopeTerms.isFiltered { parts += Self.columns(scope, &bind) }
    }
    return parts.isEmpty ? "true" : parts.joined(separator: " AND ")
  }

  // MARK: - Terms

  /// Returns the conditions that a row has all of `terms`; `nil` if none can have.
  private static func all(
    _ terms: [SearchCondition.Term], _ bind: inout Parameters, _ words: WordLookup?
  ) throws -> [String]? {
    // They are compared together, because reading the terms of a row takes longer than that.
    var required: [String] = []
    var others: [String] = []
    for term in terms {
      if !term.isPrefix {
        required.append(term.text)
      } else if let digits = IndexedTerms.digits(term.text) {
        others.append(ids(beginningWith: String(digits), &bind))
      } else if IndexLimits.prefixLengths.contains(term.text.unicodeScalars.count) {
        required += beginning(of: term.text)
      } else if let found = try words?(term.text) {
        guard !found.isEmpty else { return nil }
        let parts = stride(from: 0, to: found.count, by: IndexLimits.wordsOfCondition).map { start in
          let end = min(start + IndexLimits.wordsOfCondition, found.count)
          return "terms && \(bind(.texts(Array(found[start..<end]))))"
        }
        others.append("(" + parts.joined(separator: " OR ") + ")")
      } else {
        required += beginning(of: term.text)
        let range = range(term.text).map { bind(.text($0)) }
        others.append(
          "EXISTS (SELECT FROM unnest(terms) AS term WHERE term >= \(range[0]) AND term < \(range[1]))")
      }
    }
    return required.isEmpty ? others : ["terms @> \(bind(.texts(required)))"] + others
  }

  /// Returns the condition that a row meets an alternative; `nil` if none can.
  private static func any(
    _ alternatives: [[SearchCondition.Term]], _ bind: inout Parameters, _ words: WordLookup?
  ) throws -> String? {
    if alternatives.allSatisfy({ $0.count == 1 && !$0[0].isPrefix }) {
      return "terms && \(bind(.texts(alternatives.map { $0[0].text })))"
    }
    var parts: [String] = []
    for terms in alternatives {
      if let all = try all(terms, &bind, words) { parts.append("(" + all.joined(separator: " AND ") + ")") }
    }
    return parts.isEmpty ? nil : "(" + parts.joined(separator: " OR ") + ")"
  }

  /// The first of the words that begin with `text`, and the first text after them.
  static func range(_ text: String) -> [String] { [text, text + "\u{10FFFF}"] }

  /// Returns the longest term that every word has that begins with `text`.
  private static func beginning(of text: String) -> [String] {
    let length = min(text.unicodeScalars.count, IndexLimits.prefixLengths.upperBound)
    return IndexedTerms.beginning(of: text, length: length).map { [$0] } ?? []
  }

  // MARK: - Columns

  private static func ids(beginningWith digits: String, _ bind: inout Parameters) -> String {
    let bounds = ["0", "f"].map { digit in
      let all = Array((digits + String(repeating: digit, count: max(32 - digits.utf8.count, 0))).utf8)
      return stride(from: 0, to: 32, by: 2).compactMap {
        UInt8(String(decoding: all[$0..<$0 + 2], as: UTF8.self), radix: 16)
      }
    }
    let (low, high) = (bind(.bytes(bounds[0])), bind(.bytes(bounds[1])))
    return "(id BETWEEN \(low) AND \(high) OR manifest BETWEEN \(low) AND \(high))"
  }

  private static func columns(_ scope: CatalogQuery.Scope, _ bind: inout Parameters) -> [String] {
    var parts: [String] = []
    if let prefixes = scope.reportPrefixes {
      // No report contains U+0000, which PostgreSQL rejects.
      parts.append("report ^@ ANY(\(bind(.texts(prefixes.filter { !$0.utf8.contains(0) }))))")
    }
    if let applications = scope.applications {
      parts.append("application = ANY(\(bind(.byteArrays(applications.map(PreparedRecord.composed)))))")
    }
    return parts
  }
}
