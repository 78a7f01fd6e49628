import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import SnapshotAPI
import SnapshotStore

extension SearchForm {
  /// Reads a search from the query of a page's URL.
  init(_ query: QueryParameters) throws(HTTPProblem) {
    self.init()
    for field in SearchField.allCases {
      let value = try query.value(field.rawValue) ?? ""
      let trimmed = value.trimmingCharacters(in: .whitespaces)
      if !trimmed.isEmpty { values[field] = trimmed }
    }
  }

  /// Parses the search in the same way as the API, limited to what `caller` may see.
  func request(
    length: Int, cursor: String? = nil, _ caller: Caller, _ limits: ServiceLimits
  ) throws -> ListRequest {
    let pairs =
      values.map { ($0.rawValue, $1) } + [("limit", "\(min(length, limits.pageLength))")]
      + (cursor.map { [("cursor", $0)] } ?? [])
    let text = pairs.map { "\($0.0)=\(PercentCoding.encode($0.1))" }.joined(separator: "&")
    var request = try ListRequest(QueryParameters(text), report: nil, limits: limits)
    request.query.scope = CatalogQuery.Scope(caller.limits)
    return request
  }
}
