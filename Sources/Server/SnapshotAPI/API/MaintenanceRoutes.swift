import AccessControl
import Dispatch
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotFormat
package import SnapshotStore
import SystemIO

/// The routes of the API under `/v1` by which a store is looked after: what goes by itself, and whether all is intact.
package struct MaintenanceRoutes: Sendable {
  /// The most snapshots that one answer names, and that one call lets go.
  package static let pageLength = 1000

  private let reaper: Reaper
  private let scrubber: Scrubber
  /// What the last calls planned: a plan is made for its first page, since it looks at every record.
  private let plans = ExpirationPlans()
  private static let encoder = DispatchQueue(label: "snapshot-server.maintenance")

  /// Routes to `reaper` and `scrubber`; the latter makes passes that people ask for, and no others.
  package init(_ reaper: Reaper, _ scrubber: Scrubber) {
    self.reaper = reaper
    self.scrubber = scrubber
  }

  /// All of them.
  package var endpoints: [Endpoint] {
    [
      Endpoint(
        "planExpirations", .get, "/v1/expirations", .admin, "Tells what would go by itself now, and why.",
        detail: "Changes nothing. Follow `next`, or the link of the field `Link`, as it is.",
        parameters: [
          listLength, .query("cursor", "Where to go on: what `next` of the page before said.", cursorSchema),
        ],
        responses: [.json(200, "A page.", .schema("ExpirationPlan"), fields: ["Link"])],
        problems: [.callerLimited], handler: plan),
      Endpoint(
        "expire", .post, "/v1/expirations", .admin, "Lets go what is to go by itself.",
        detail:
          "Where that is more than a fifth of all snapshots, and at least 100, it needs `confirm=true`.",
        parameters: [
          listLength,
          .query(
            "confirm", "Whether more than a fifth of all snapshots may go.",
            ["type": "boolean", "default": false]),
        ],
        responses: [.json(200, "What went.", .schema("ExpirationOutcome"))],
        problems: [.callerLimited, .confirmationNeeded], handler: expire),
      Endpoint(
        "readScrub", .get, "/v1/scrub", .admin, "Tells how far the look at every bundle has come.",
        responses: [.json(200, "What was found.", .schema("ScrubReport"))],
        problems: [.callerLimited], handler: scrubReport),
      Endpoint(
        "scrub", .post, "/v1/scrub", .admin, "Begins to look at every bundle, unless that is being done.",
        responses: [
          .json(202, "It goes on.", .schema("ScrubReport"), fields: ["Location"])
        ], problems: [.callerLimited], handler: scrub),
    ]
  }

  /// One page of what would go now, and why; changes nothing.
  private func plan(_ call: APIRequest) async throws -> HTTPServerResponse {
    try call.caller.requireUnlimited()
    let query = try call.query()
    let limit = try Self.limit(query)
    let after = try query.value("cursor").map(Self.place)
    let plan = try await after == nil ? plans.keepShown(reaper.plan()) : plans.shown(else: reaper.plan)
    let due = plan.expirations
    return try await Self.encoder.perform { () throws(any Error) in
      let first = after.map { after in due.firstIndex { $0.comes(after: after) } ?? due.count } ?? 0
      let page = due[first...].prefix(limit)
      let next = page.endIndex < due.count ? page.last.map(Self.cursor(after:)) : nil
      var fields: HTTPFields = [:]
      if let next {
        let query = "limit=\(limit)&cursor=\(PercentCoding.encode(next))"
        fields[.link] = "<\(call.request.path)?\(query)>; rel=\"next\""
      }
      return try JSONBody(
        PlanAnswer(
          count: due.count, bytes: due.reduce(0) { $0 + $1.size },
          needsConfirmation: plan.needsConfirmation, expirations: Array(page), next: next)
      ).response(.ok, fields)
    }
  }

  /// Lets go what is to go, so many at most, and says what went.
  private func expire(_ call: APIRequest) async throws -> HTTPServerResponse {
    try call.caller.requireUnlimited()
    let query = try call.query()
    let (limit, isConfirmed) = (try Self.limit(query), try Self.isConfirmed(query))
    let due: ArraySlice<Expiration>
    do {
      due = try await plans.takeDue { try await reaper.due(isConfirmed: isConfirmed) }
    } catch let held as ExpirationHeld {
      throw HTTPProblem.confirmationNeeded(held)
    }
    let outcome = try await reaper.expire(due, limit: limit)
    plans.keepDue(due.dropFirst(limit))
    return try await Self.encoder.perform { () throws(any Error) in
      try JSONBody(OutcomeAnswer(expirations: outcome.expired, remaining: outcome.remaining)).response(.ok)
    }
  }

  /// Says how far the pass has come that somebody asked for last.
  private func scrubReport(_ call: APIRequest) async throws -> HTTPServerResponse {
    try call.caller.requireUnlimited()
    return try JSONBody(scrubber.report).response(.ok)
  }

  /// Begins a pass over all bundles, unless one runs.
  private func scrub(_ call: APIRequest) async throws -> HTTPServerResponse {
    try call.caller.requireUnlimited()
    scrubber.start()
    return try JSONBody(scrubber.report).response(.accepted, [.location: "/v1/scrub"])
  }

  private static func limit(_ query: QueryParameters) throws(HTTPProblem) -> Int {
    guard let text = try query.value("limit") else { return pageLength }
    guard let limit = Int(text), (1...pageLength).contains(limit) else {
      throw .badRequest("‘limit’ is a number from 1 to \(pageLength).")
    }
    return limit
  }

  private static func isConfirmed(_ query: QueryParameters) throws(HTTPProblem) -> Bool {
    switch try query.value("confirm") {
    case nil, "false": return false
    case "true": return true
    default: throw .badRequest("‘confirm’ is true or false.")
    }
  }

  private static func cursor(after last: Expiration) -> String {
    "\(SnapshotJSON.text(of: last.receivedAt))_\(last.id)"
  }

  private static func place(_ cursor: String) throws(HTTPProblem) -> (receivedAt: Date, id: SnapshotID) {
    let parts = cursor.split(separator: "_", omittingEmptySubsequences: false)
    guard parts.count == 2, let time = SnapshotJSON.time(String(parts[0])),
      let id = SnapshotID(String(parts[1]))
    else {
      throw .badRequest(
        "‘cursor’ is not one that this server gave: follow the link to the next page as it is.")
    }
    return (time, id)
  }

  private struct PlanAnswer: Encodable {
    let count: Int
    let bytes: Int64
    let needsConfirmation: Bool
    let expirations: [Expiration]
    let next: String?
  }

  private struct OutcomeAnswer: Encodable {
    let expirations: [Expiration]
    let remaining: Int
  }
}

extension HTTPProblem {
  /// 409: a run was stopped before it let anything go.
  fileprivate static func confirmationNeeded(_ held: ExpirationHeld) -> HTTPProblem {
    HTTPProblem(.confirmationNeeded, detail: "\(held)")
  }
}

extension Expiration {
  fileprivate func comes(after place: (receivedAt: Date, id: SnapshotID)) -> Bool {
    (place.receivedAt, place.id) < (receivedAt, id)
  }
}

private let listLength = Endpoint.Parameter.query(
  "limit", "The most snapshots that the answer names.",
  [
    "type": "integer", "minimum": 1, "maximum": .integer(Int64(MaintenanceRoutes.pageLength)),
    "default": .integer(Int64(MaintenanceRoutes.pageLength)),
  ])
private let cursorSchema: JSONValue = ["type": "string", "pattern": "^[0-9T:.-]+Z_[0-9a-f-]{36}$"]
