package import AccessControl
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotFormat
import SnapshotService
import SnapshotStore
import SystemIO

/// The endpoints that list snapshots.
struct ListRoutes: Sendable {

  private let service: SnapshotService
  private let limits: ServiceLimits

  init(_ service: SnapshotService, limits: ServiceLimits) {
    self.service = service
    self.limits = limits
  }

  /// All endpoints.
  var endpoints: [Endpoint] {
    [
      Endpoint(
        .listReport, .get, "/v1/reports/{report}/snapshots", .read,
        "Lists the snapshots of a bug report.",
        detail: paging,
        parameters: [.report] + filters + pageParameters, responses: [page],
        problems: [.malformedReportID, .outsideLimits, .catalogIncomplete, .catalogUnavailable],
        handler: listReport),
      Endpoint(
        .listSnapshots, .get, "/v1/snapshots", .read,
        "Lists snapshots, newest first.", detail: paging,
        parameters: [.query("report", "Only snapshots of this report.", .schema("ReportID"))] + filters
          + pageParameters,
        responses: [page], problems: [.malformedReportID, .catalogIncomplete, .catalogUnavailable],
        handler: listAll),
    ]
  }

  /// Sends one page of a report's records.
  private func listReport(_ call: APIRequest) async throws -> HTTPServerResponse {
    let report = try call.value(of: .report)
    guard call.caller.limits.include(report) else { throw HTTPProblem.outsideLimits("reports") }
    return try await list(call, report: report)
  }

  /// Sends one page of all records.
  private func listAll(_ call: APIRequest) async throws -> HTTPServerResponse {
    try await list(call, report: nil)
  }

  private func list(_ call: APIRequest, report: ReportID?) async throws -> HTTPServerResponse {
    var list = try ListRequest(call.query(), report: report, limits: limits)
    list.query.scope = CatalogQuery.Scope(call.caller.limits)
    // The query excludes most records that the caller may not see; the filter checks the remaining rules.
    let page = try await service.page(list.query, list.page).filtered(call.caller.mayRead)
    let total = list.wantsTotal ? try await service.total(list.query) : nil
    // Encoding a thousand records takes milliseconds, which would block an event loop.
    let body = try await ServerQueues.shared.pages.next.perform { () throws(any Error) in
      try JSONBody(PageAnswer(page, total: total, below: call.request.basePath))
    }
    var fields: HTTPFields = [:]
    if let next = page.next {
      fields[.link] = "<\(call.request.path)?\(list.queryString(after: next))>; rel=\"next\""
    }
    return body.response(.ok, fields)
  }
}

extension CatalogQuery.Scope {
  /// Creates the scope of a caller's limits. Returns `nil` if the caller has none.
  package init?(_ limits: CallerLimits) {
    guard !limits.isUnlimited else { return nil }
    self.init(
      reportPrefixes: limits.reportPrefixes?.sorted(), applications: limits.applications?.sorted())
  }
}

private let paging = """
  Use `next`, or the link in the field `Link`, unchanged. The pages contain each snapshot that existed when the first \
  page was requested, and still does, exactly once. A snapshot must match all given filters. Unknown parameters are \
  refused.
  """
private let filterText: JSONValue = [
  "type": "string", "minLength": 1, "maxLength": .integer(Int64(SearchLimits.filterBytes)),
]
private let filters: [Endpoint.Parameter] = [
  .query("application", "Only snapshots of the application with this identifier.", filterText),
  .query("version", "Only this version and those within it: 3.1 includes 3.1.4.", filterText),
  .query("minVersion", "Only this version and later ones. Not with `version`.", filterText),
  .query("maxVersion", "Only this version and earlier ones. Not with `version`.", filterText),
  .query("module", "Only snapshots with a module of this name.", filterText),
  .query("identifier", "Only snapshots with a recording of this identifier.", filterText),
  .query("device", "Only from this device or system: `iPhone17,1`, `iPhone17`, `iOS`, `iOS 26`.", filterText),
  .query("after", "Only snapshots received at this time or later: RFC 3339, or a day.", filterText),
  .query("before", "Only snapshots received before this time.", filterText),
  .query(
    "text",
    """
    Only snapshots that contain all of these words, or words that begin with them, or whose UUID begins with these at \
    least \(SearchLimits.uuidDigits) digits.
    """, filterText),
  .query("total", "Whether to return the number of all results.", ["type": "boolean", "default": false]),
]
private let pageParameters: [Endpoint.Parameter] = [
  .query(
    "limit", "The maximum number of snapshots on the page.",
    ["type": "integer", "minimum": 1, "maximum": .integer(Int64(PageRequest.maximumLimit)), "default": 100]),
  .query(
    "cursor", "The `next` of the previous page.",
    ["type": "string", "pattern": "^[0-9]{1,15}_[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$"]),
]
private let page = Endpoint.Response.json(
  200, "A page.", .schema("Page"), fields: ["Link"])
