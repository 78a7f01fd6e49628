import Foundation
package import HTTPEngine
import HTTPSemantics
package import SnapshotFormat
package import SnapshotStore

/// The parameters of a request for a list. Unknown parameters are refused: ignoring a filter would list too many
/// snapshots.
package struct ListRequest {
  /// The parameters that filter records.
  static let filters = [
    "report", "application", "version", "minVersion", "maxVersion", "module", "identifier", "device", "after",
    "before", "text",
  ]

  package var query: CatalogQuery
  package let page: PageRequest
  let wantsTotal: Bool
  /// The filters of the request, in order.
  private var given: [(name: String, value: String)] = []

  /// Parses the parameters. `report` is the report in the path, which excludes the parameter of that name.
  package init(_ parameters: QueryParameters, report: ReportID?, limits: ServiceLimits) throws {
    let filters = Self.filters.filter { report == nil || $0 != "report" }
    let known = filters + ["limit", "cursor", "total"]
    for (name, _) in parameters.pairs where !known.contains(name) {
      throw HTTPProblem.badRequest(
        "‘\(name.prefix(100))’ is not a parameter. The parameters are \(known.joined(separator: ", ")).")
    }
    for name in filters {
      guard let value = try parameters.value(name) else { continue }
      guard (1...SearchLimits.filterBytes).contains(value.utf8.count) else {
        throw HTTPProblem.badRequest("‘\(name)’ must have 1 to \(SearchLimits.filterBytes) bytes.")
      }
      given.append((name, value))
    }
    let values = Dictionary(uniqueKeysWithValues: given.map { ($0.name, $0.value) })

    query = CatalogQuery(report: report)
    if let text = values["report"] { query.report = try ReportID(validating: text) }
    query.application = values["application"]
    query.versions = try Self.versions(values)
    query.module = values["module"]
    query.identifier = values["identifier"]
    query.device = values["device"]
    query.after = try values["after"].map { try Self.time($0, "after") }
    query.before = try values["before"].map { try Self.time($0, "before") }
    query.text = values["text"]
    page = try Self.page(parameters, limits)
    switch try parameters.value("total") {
    case "true": wantsTotal = true
    case "false", nil: wantsTotal = false
    default: throw HTTPProblem.badRequest("‘total’ must be true or false.")
    }
  }

  /// Returns the query of the next page: the same filters, with `cursor`.
  func queryString(after cursor: Cursor) -> String {
    let parameters = given + [("limit", "\(page.limit)"), ("cursor", cursor.description)]
    return parameters.map { "\($0.name)=\(PercentCoding.encode($0.value))" }.joined(separator: "&")
  }

  private static func versions(_ values: [String: String]) throws(HTTPProblem) -> VersionRange? {
    let (lowest, highest) = (values["minVersion"], values["maxVersion"])
    guard let version = values["version"] else {
      return lowest == nil && highest == nil ? nil : VersionRange(from: lowest, through: highest)
    }
    guard lowest == nil, highest == nil else {
      throw .badRequest("‘version’ can't be combined with ‘minVersion’ or ‘maxVersion’.")
    }
    return VersionRange(version)
  }

  /// Parses a time in RFC 3339, or a day, which means midnight UTC.
  private static func time(_ text: String, _ name: String) throws(HTTPProblem) -> Date {
    let isPlain = text.utf8.allSatisfy { (0x2B...0x3A).contains($0) || $0 == 0x54 || $0 == 0x5A }
    let full = text.utf8.count == 10 ? text + "T00:00:00Z" : text
    if isPlain {
      do { return try SnapshotJSON.decode(Date.self, from: Data("\"\(full)\"".utf8)) } catch {}
    }
    throw .badRequest(
      "‘\(name)’ must be a time such as 2026-11-21T15:04:05Z or a day such as 2026-11-21. Encode ‘+’ as %2B.")
  }

  private static func page(
    _ parameters: QueryParameters, _ limits: ServiceLimits
  ) throws(HTTPProblem) -> PageRequest {
    var request = PageRequest(limit: min(limits.defaultPageLength, limits.pageLength))
    if let text = try parameters.value("limit") {
      guard let limit = Int(text), limit >= 1, limit <= limits.pageLength else {
        throw .badRequest("‘limit’ must be a number from 1 to \(limits.pageLength).")
      }
      request.limit = limit
    }
    if let text = try parameters.value("cursor") {
      guard let cursor = Cursor(text) else {
        throw .badRequest(
          "‘cursor’ is not valid. Use the link to the next page unchanged.")
      }
      request.cursor = cursor
    }
    return request
  }
}
