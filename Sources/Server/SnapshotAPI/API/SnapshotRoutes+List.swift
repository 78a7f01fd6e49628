package import AccessControl
import Dispatch
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotFormat
import SnapshotStore
import SystemIO

extension SnapshotRoutes {
  /// The calls that list snapshots.
  var listEndpoints: [Endpoint] {
    [
      Endpoint(
        "listReport", .get, "/v1/reports/{report}/snapshots", .read,
        "Lists what is attached to a bug report.",
        detail: paging,
        parameters: [.report] + filters + pageParameters, responses: [page],
        problems: [.malformedReportID, .outsideLimits, .catalogIncomplete], handler: listReport),
      Endpoint(
        "listSnapshots", .get, "/v1/snapshots", .read,
        "Lists snapshots, the newest first.", detail: paging,
        parameters: [.query("report", "Only what is attached to this report.", .schema("ReportID"))] + filters
          + pageParameters,
        responses: [page], problems: [.malformedReportID, .catalogIncomplete], handler: listAll),
    ]
  }

  /// Sends one page of a report's records.
  func listReport(_ call: APIRequest) async throws -> HTTPServerResponse {
    let report = try call.value(of: .report)
    guard call.caller.limits.include(report) else { throw HTTPProblem.outsideLimits("reports") }
    return try await list(call, report: report)
  }

  /// Sends one page of all records.
  func listAll(_ call: APIRequest) async throws -> HTTPServerResponse {
    try await list(call, report: nil)
  }

  private func list(_ call: APIRequest, report: ReportID?) async throws -> HTTPServerResponse {
    var list = try ListRequest(call.query(), report: report, limits: limits)
    list.query.scope = CatalogQuery.Scope(call.caller.limits)
    // The catalogue leaves out what the caller may not see; that is not all that stands in between.
    let page = try await service.page(list.query, list.page).filtered(call.caller.mayRead)
    let total = list.wantsTotal ? try await service.total(list.query) : nil
    // A thousand records take milliseconds to encode, which an event loop does not have.
    let body = try await Self.encoder.perform { () throws(any Error) in
      try JSONBody(PageAnswer(page, total: total))
    }
    var fields: HTTPFields = [:]
    if let next = page.next {
      fields[.link] = "<\(call.request.path)?\(list.queryString(after: next))>; rel=\"next\""
    }
    return body.response(.ok, fields)
  }

  private static let encoder = DispatchQueue(label: "snapshot-server.encoder")
}

extension CatalogQuery.Scope {
  /// What a caller may see; `nil` where that is everything.
  package init?(_ limits: CallerLimits) {
    guard !limits.areNone else { return nil }
    self.init(
      reportPrefixes: limits.reportPrefixes?.sorted(), applications: limits.applications?.sorted())
  }
}

private let paging = """
  Follow `next`, or the link of the field `Link`, as it is: the pages hold every snapshot that was there at the \
  beginning and is still there, each once. All filters that are given hold together; parameters that are not known \
  are refused.
  """
private let filterText: JSONValue = [
  "type": "string", "minLength": 1, "maxLength": .integer(Int64(SearchLimits.filterBytes)),
]
private let filters: [Endpoint.Parameter] = [
  .query("application", "Only snapshots of the application with this identifier.", filterText),
  .query("version", "Only of this version of it, and those below it: 3.1 is 3.1.4 too.", filterText),
  .query("minVersion", "Only of this version and later ones; not beside `version`.", filterText),
  .query("maxVersion", "Only of this version and earlier ones; not beside `version`.", filterText),
  .query("module", "Only with a module of this name.", filterText),
  .query("identifier", "Only where this identifier is recorded.", filterText),
  .query("device", "Only from such a device or system: `iPhone17,1`, `iOS`, `iOS 26.1`.", filterText),
  .query("after", "Only what came at this time or later: RFC 3339, or a day.", filterText),
  .query("before", "Only what came before this time.", filterText),
  .query("text", "Only where all of these words occur.", filterText),
  .query("total", "Whether to count all that there are.", ["type": "boolean", "default": false]),
]
private let pageParameters: [Endpoint.Parameter] = [
  .query(
    "limit", "The most snapshots on the page.",
    ["type": "integer", "minimum": 1, "maximum": .integer(Int64(PageRequest.maximumLimit)), "default": 100]),
  .query(
    "cursor", "Where to go on: what `next` of the page before said.",
    ["type": "string", "pattern": "^[0-9]{1,15}_[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$"]),
]
private let page = Endpoint.Response.json(
  200, "A page.", .schema("Page"), fields: ["Link"])
