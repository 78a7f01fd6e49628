import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotFormat
package import SnapshotStore
import SystemIO

/// The endpoints under `/v1` for the maintenance of a store: the expiry of snapshots, and the verification of bundles.
package struct MaintenanceRoutes: Sendable {
  /// The maximum number of snapshots in one response, and the maximum that one call deletes.
  package static let pageLength = 1000

  private let reaper: Reaper
  private let scrubber: Scrubber
  /// The plans of recent calls. A plan is only made for its first page, because it reads every record.
  private let plans = ExpirationPlans()

  /// Creates endpoints for `reaper` and `scrubber`. The scrubber must run only the passes that are requested here.
  package init(_ reaper: Reaper, _ scrubber: Scrubber) {
    self.reaper = reaper
    self.scrubber = scrubber
  }

  /// All endpoints.
  package var endpoints: [Endpoint] {
    [
      Endpoint(
        .planExpirations, .get, "/v1/expirations", .admin,
        "Lists the snapshots that would expire now, with reasons.",
        detail: "Changes nothing. Use `next`, or the link in the field `Link`, unchanged.",
        parameters: [
          listLength, .query("cursor", "The `next` of the previous page.", cursorSchema),
        ],
        responses: [.json(200, "A page.", .schema("ExpirationPlan"), fields: ["Link"])],
        problems: [.callerLimited], handler: plan),
      Endpoint(
        .expire, .post, "/v1/expirations", .admin, "Deletes expired snapshots.",
        detail:
          """
          Needs `confirm=true` if these are at least 100, and more than a fifth of all snapshots, or while the clock of \
          the server may be wrong.
          """,
        parameters: [
          listLength,
          .query(
            "confirm", "Whether more than a fifth of all snapshots may be deleted, and the clock is right.",
            ["type": "boolean", "default": false]),
        ],
        responses: [.json(200, "The deleted snapshots.", .schema("ExpirationOutcome"))],
        problems: [.callerLimited, .confirmationNeeded], handler: expire),
      Endpoint(
        .readScrub, .get, "/v1/scrub", .admin, "Returns the progress of verifying all bundles.",
        responses: [.json(200, "The progress and results.", .schema("ScrubReport"))],
        problems: [.callerLimited], handler: scrubReport),
      Endpoint(
        .scrub, .post, "/v1/scrub", .admin, "Starts verifying all bundles, unless this is running.",
        responses: [
          .json(202, "The verification is running.", .schema("ScrubReport"), fields: ["Location"])
        ], problems: [.callerLimited], handler: scrub),
    ]
  }

  /// Returns one page of the snapshots that would expire now, with reasons. Changes nothing.
  private func plan(_ call: APIRequest) async throws -> HTTPServerResponse {
    try call.caller.requireUnlimited()
    let query = try call.query()
    let limit = try Self.limit(query)
    let after = try query.value("cursor").map(Self.place)
    let plan = try await after == nil ? plans.keepShown(reaper.plan()) : plans.shown(else: reaper.plan)
    let due = plan.expirations
    return try await ServerQueues.shared.pages.next.perform { () throws(any Error) in
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

  /// Deletes expired snapshots, up to the limit, and returns them.
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
    return try await ServerQueues.shared.pages.next.perform { () throws(any Error) in
      try JSONBody(OutcomeAnswer(expirations: outcome.expired, remaining: outcome.remaining)).response(.ok)
    }
  }

  /// Returns the state of the last requested pass.
  private func scrubReport(_ call: APIRequest) async throws -> HTTPServerResponse {
    try call.caller.requireUnlimited()
    return try JSONBody(scrubber.report).response(.ok)
  }

  /// Starts a pass over all bundles, unless one is running.
  private func scrub(_ call: APIRequest) async throws -> HTTPServerResponse {
    try call.caller.requireUnlimited()
    scrubber.start()
    return try JSONBody(scrubber.report).response(.accepted, [.location: "/v1/scrub"])
  }

  private static func limit(_ query: QueryParameters) throws(HTTPProblem) -> Int {
    guard let text = try query.value("limit") else { return pageLength }
    guard let limit = Int(text), (1...pageLength).contains(limit) else {
      throw .badRequest("‘limit’ must be a number from 1 to \(pageLength).")
    }
    return limit
  }

  private static func isConfirmed(_ query: QueryParameters) throws(HTTPProblem) -> Bool {
    switch try query.value("confirm") {
    case nil, "false": return false
    case "true": return true
    default: throw .badRequest("‘confirm’ must be true or false.")
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
        "‘cursor’ is not valid. Use the link to the next page unchanged.")
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
  /// 409: a run was refused before it deleted anything.
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
  "limit", "The maximum number of snapshots in the response.",
  [
    "type": "integer", "minimum": 1, "maximum": .integer(Int64(MaintenanceRoutes.pageLength)),
    "default": .integer(Int64(MaintenanceRoutes.pageLength)),
  ])
private let cursorSchema: JSONValue = ["type": "string", "pattern": "^[0-9T:.-]+Z_[0-9a-f-]{36}$"]

/// Plans that are kept for five minutes, for the calls that continue with them.
///
/// A plan can be out of date. Before a snapshot is deleted, the reaper checks again that it may be. The remaining
/// expirations of a run were confirmed if that was needed.
final class ExpirationPlans: Sendable {
  private struct State: Sendable {
    var shown: (plan: RetentionPlan, madeAt: UInt64)?
    var due: (expirations: ArraySlice<Expiration>, madeAt: UInt64)?
  }

  private static let lifetime: UInt64 = 300_000_000_000

  private let state = Lock(State())

  /// Keeps the plan that is listed page by page.
  func keepShown(_ plan: RetentionPlan) -> RetentionPlan {
    let now = SystemClock.monotonicNanoseconds
    state.withLock { $0.shown = (plan, now) }
    return plan
  }

  /// Returns the plan that is listed page by page, or makes one if it is too old.
  func shown(else make: () async throws -> RetentionPlan) async throws -> RetentionPlan {
    if let shown = state.withLock({ $0.shown }), Self.isFresh(shown.madeAt) { return shown.plan }
    return keepShown(try await make())
  }

  /// Keeps the remaining expirations of a run.
  func keepDue(_ rest: ArraySlice<Expiration>) {
    let now = SystemClock.monotonicNanoseconds
    state.withLock { $0.due = rest.isEmpty ? nil : (rest, now) }
  }

  /// Takes the remaining expirations of the last run, or makes a new list if there are none.
  func takeDue(else make: () async throws -> [Expiration]) async throws -> ArraySlice<Expiration> {
    let rest = state.withLock { state in
      defer { state.due = nil }
      return state.due
    }
    if let rest, Self.isFresh(rest.madeAt) { return rest.expirations }
    return try await make()[...]
  }

  private static func isFresh(_ madeAt: UInt64) -> Bool {
    SystemClock.monotonicNanoseconds - madeAt < lifetime
  }
}
