package import AccessControl
import Foundation
package import HTTPEngine
import HTTPTypes
import Observability
import SnapshotFormat

/// The endpoints for links with which people without a token can attach snapshots to one report.
package struct AttachLinkRoutes: Sendable {
  private let access: AccessPolicy

  /// Creates the endpoints for links that `access` makes.
  package init(access: AccessPolicy) { self.access = access }

  /// All endpoints.
  package var endpoints: [Endpoint] {
    let path = "/v1/reports/{report}/links"
    return [
      Endpoint(
        .createAttachLink, .post, path, .read, "Creates a link to attach snapshots to a report.",
        detail: """
          The link is a page for people without a token. Its `token` allows attaching to this report, and nothing else. \
          The caller needs the scopes `read` and `attach`; the link has the limits of the caller's token, and is valid \
          while that is valid.
          """,
        parameters: [
          .report,
          .number(
            "seconds", "The lifetime of the link.", AttachLink.Limits.lifetimes, AttachLink.Limits.lifetime),
          .number(
            "count", "How many snapshots can be attached.", AttachLink.Limits.counts, AttachLink.Limits.count),
          .number(
            "bytes", "How many bytes these can have together.", AttachLink.Limits.bytes,
            AttachLink.Limits.size),
        ],
        responses: [.json(201, "The link.", .schema("AttachLink"), fields: ["Location"])],
        problems: [.malformedReportID, .outsideLimits, .tooManyLinks, .linksNeedTokens], handler: make),
      Endpoint(
        .listAttachLinks, .get, path, .read, "Lists the links to attach to a report, newest first.",
        detail: "Includes links that are no longer valid. The links themselves are not stored.",
        parameters: [.report],
        responses: [.json(200, "The links.", .schema("AttachLinks"))],
        problems: [.malformedReportID, .outsideLimits], handler: list),
      Endpoint(
        .revokeAttachLink, .delete, path + "/{link}", .read, "Revokes a link to attach.",
        detail: "For the token that made the link, and for tokens with the scope `admin`.",
        parameters: [.report, .link], responses: [.noContent("The link is revoked.")],
        problems: [.malformedReportID, .outsideLimits, .noSuchLink], handler: revoke),
    ]
  }

  private func make(_ call: APIRequest) async throws -> HTTPServerResponse {
    let query = try call.query()
    let (link, secret) = try await access.makeAttachLink(
      to: call.value(of: .report),
      seconds: query.number("seconds", AttachLink.Limits.lifetimes) ?? AttachLink.Limits.lifetime,
      count: query.number("count", AttachLink.Limits.counts) ?? AttachLink.Limits.count,
      bytes: query.number("bytes", AttachLink.Limits.bytes) ?? AttachLink.Limits.size, for: call.caller)
    let answer = AttachLinkAnswer(link, secret: secret, at: call.request)
    var response = try JSONBody(answer).response(.created, [.location: Self.path(of: secret)])
    response.headerFields[.cacheControl] = "no-store"
    return response
  }

  private func list(_ call: APIRequest) async throws -> HTTPServerResponse {
    let links = try await access.attachLinks(to: call.value(of: .report), for: call.caller)
    return try JSONBody(["links": links.map { AttachLinkAnswer($0) }]).response(.ok)
  }

  private func revoke(_ call: APIRequest) async throws -> HTTPServerResponse {
    try await access.revokeAttachLink(
      call.value(of: .link), to: call.value(of: .report), for: call.caller)
    return HTTPServerResponse(status: .noContent)
  }

  /// The path and query of the page of the link with `secret`. Logs never contain a query.
  package static func path(of secret: String) -> String { "/attach?link=\(secret)" }
}

/// A link to attach in responses.
private struct AttachLinkAnswer: Encodable {
  let id: String
  /// The path and query of the link's page; `nil` unless it was just made.
  let link: String?
  /// The URL of the link's page; `nil` unless it was just made, and the server knows its own URL.
  let url: String?
  /// The secret with which the API accepts uploads; `nil` unless it was just made.
  let token: String?
  let report: ReportID
  let state: AccessToken.State
  let createdAt: Date
  let expiresAt: Date?
  let createdBy: String
  let count: Int
  let bytes: Int64
  let usedCount: Int
  let usedBytes: Int64

  init(_ state: AttachLinkState, secret: String? = nil, at request: HTTPServerRequest? = nil) {
    let (known, link) = (state.token, state.link)
    id = known.id
    let page = secret.map(AttachLinkRoutes.path)
    self.link = page.map { (request?.basePath ?? "") + $0 }
    url = page.flatMap { page in request?.publicURL.map { $0 + page } }
    token = secret
    report = link.report
    self.state = state.state
    (createdAt, expiresAt, createdBy) = (known.createdAt, known.expiresAt, link.maker)
    (count, bytes, usedCount, usedBytes) = (link.count, link.bytes, link.uses.count, link.usedBytes)
  }
}

extension QueryParameters {
  /// Returns the number in the parameter `name`; `nil` if it is missing. Throws if it is not a number in `range`.
  package func number<Number: FixedWidthInteger>(
    _ name: String, _ range: ClosedRange<Number>
  ) throws -> Number? {
    guard let text = try value(name) else { return nil }
    guard let number = Number(text), range.contains(number) else { throw HTTPProblem.outside(name, range) }
    return number
  }
}

extension Endpoint.Parameter {
  /// A number in the query.
  fileprivate static func number(
    _ name: String, _ text: String, _ range: ClosedRange<some BinaryInteger>, _ standard: some BinaryInteger
  ) -> Self {
    .query(
      name, text,
      [
        "type": "integer", "minimum": .integer(Int64(range.lowerBound)),
        "maximum": .integer(Int64(range.upperBound)), "default": .integer(Int64(standard)),
      ])
  }

  fileprivate static let link = Self(
    name: "link", place: .path, text: "The link's id.",
    schema: ["type": "string", "pattern": "^[0-9a-f]{12}$"])
}

extension PathParameter where Value == String {
  /// The id of a link. A malformed one is that of no link.
  package static var link: PathParameter<String> { PathParameter("link") { $0 } }
}
