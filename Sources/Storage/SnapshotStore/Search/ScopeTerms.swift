/// A scope as conditions on the terms of a record.
package struct ScopeTerms: Sendable, Hashable {
  /// A record has at least one term of each list.
  package private(set) var conditions: [[String]] = []
  /// Whether ``allows(report:application:)`` must also be checked on each record.
  package private(set) var isFiltered = false
  private let scope: CatalogQuery.Scope
  /// Whether the conditions leave the applications to be checked.
  private var filtersApplications = false

  /// Plans a scope; `nil` if it allows nothing.
  /// - Parameter limit: the maximum number of terms of a list. With more, records are checked one by one.
  package init?(_ scope: CatalogQuery.Scope, limit: Int) {
    guard scope.applications?.isEmpty != true, scope.reportPrefixes?.isEmpty != true else { return nil }
    self.scope = scope
    if let applications = scope.applications {
      let terms = applications.flatMap { SearchTerm.alternatives(.application, $0) }
      if terms.count <= limit {
        conditions.append(terms)
      } else {
        (filtersApplications, isFiltered) = (true, true)
      }
    }
    if let prefixes = scope.reportPrefixes {
      let known = prefixes.compactMap { SearchTerm.prefixes(ofReport: $0).last }
      if known.count <= limit, known.count == prefixes.count {
        conditions.append(known.map { SearchTerm.of(.reportPrefix, $0) })
      }
      isFiltered = isFiltered || known != prefixes
    }
  }

  /// Whether a record that meets ``conditions`` is in the scope.
  /// - Parameter application: returns the identifier of the record's application.
  package func allows(report: String, application: () throws -> String) rethrows -> Bool {
    guard scope.allowsReport(report) else { return false }
    guard filtersApplications, let applications = scope.applications else { return true }
    return applications.contains(try application())
  }
}
