import AccessControl
import CoreMetrics
package import HTTPEngine
import HTTPTypes
package import Logging
package import Observability
package import SnapshotFormat

/// Records the requests of an endpoint in the audit log, before they are answered.
///
/// If an event can't be recorded, no data is disclosed. While the log fails, a call that changes state is refused
/// before it runs. If the log fails after such a call, the change is kept and answered, and the server's own log has
/// the event.
package final class AuditMiddleware: Middleware {
  private let action: AuditAction
  private let recordsRefusalsOnly: Bool
  private let audit: AuditLog
  private let metrics: ServerMetrics
  private let logger: Logger

  /// Creates the step of `endpoint`; `nil` if its requests are not recorded.
  package init?(_ endpoint: Endpoint, _ audit: AuditLog, _ metrics: ServerMetrics, logger: Logger) {
    guard let action = endpoint.action else { return nil }
    self.action = action
    recordsRefusalsOnly = endpoint.audited == .refusals
    self.audit = audit
    self.metrics = metrics
    self.logger = logger
  }

  package func respond(
    to routed: RoutedRequest, next: Responder<RoutedRequest>
  ) async throws -> HTTPServerResponse {
    let request = routed.request
    let context = request.context ?? RequestContext()
    context.update { facts in
      // The call itself reports malformed values.
      facts.snapshot = routed.valueIfValid(of: .id)
      facts.report = routed.valueIfValid(of: .report)
    }
    let changes = request.method != .get && request.method != .head
    if action == .deleteSnapshot {
      context.update { facts in
        facts.audit = { [self] event in
          if await !record(event) { reportMissing(event) }
        }
      }
    }
    if changes, audit.isFailing {
      // Only a written line shows whether the log works again.
      let isWritten = await record(event(request, context, .failed, problem: HTTPProblem.auditUnavailable))
      if !isWritten { throw HTTPProblem.auditUnavailable }
    }
    let response: HTTPServerResponse
    do {
      response = try await next(routed)
    } catch {
      let event = event(request, context, error)
      if await !record(event), changes { reportMissing(event) }
      throw error
    }
    if recordsRefusalsOnly { return response }
    let event = event(request, context, .done, status: response.status.code)
    guard await !record(event) else { return response }
    // A change is kept and answered. Otherwise nothing is disclosed.
    guard changes else { throw HTTPProblem.auditUnavailable }
    reportMissing(event)
    return response
  }

  /// Returns whether `event` is in the log.
  private func record(_ event: AuditEvent) async -> Bool {
    do {
      if event.result == .refused {
        try await audit.writeRefusal(event)
      } else {
        try await audit.write(event)
      }
      metrics.auditWritten.increment()
      return true
    } catch {
      metrics.auditLost.increment()
      return false
    }
  }

  private func reportMissing(_ event: AuditEvent) {
    logger.critical(
      "An event is missing in the audit log", metadata: ["event": "\(event.line.dropLast())"])
  }

  private func event(
    _ request: HTTPServerRequest, _ context: RequestContext, _ error: any Error
  ) -> AuditEvent {
    guard let problem = SnapshotProblem.answer(to: error) else { return event(request, context, .failed) }
    return event(request, context, Self.result(problem), problem: problem)
  }

  private static func result(_ problem: HTTPProblem) -> AuditEvent.Result {
    problem.status.code < 500 || problem.status.code == 507 ? .refused : .failed
  }

  private func event(
    _ request: HTTPServerRequest, _ context: RequestContext, _ result: AuditEvent.Result, status: Int? = nil,
    problem: HTTPProblem? = nil
  ) -> AuditEvent {
    let facts = context.facts
    return AuditEvent(
      action, result, request: request.id, token: facts.token, user: facts.user, usesLink: facts.usesLink,
      snapshot: facts.snapshot, comparedWith: facts.comparedWith, report: facts.report,
      address: request.peer,
      status: status ?? problem?.status.code, problem: problem?.kindName)
  }
}

extension PageCall {
  /// Records what the request did to one of several snapshots. The request has an event of its own, without a snapshot.
  package func audit(
    _ action: AuditAction, of record: SnapshotRecord, failedBy error: (any Error)? = nil
  ) async {
    guard let facts = request.context?.facts, let audit = facts.audit else { return }
    let problem = error.map { SnapshotProblem.answer(to: $0) ?? HTTPProblem(.internalError, detail: "") }
    await audit(
      AuditEvent(
        action, problem == nil ? .done : .failed, request: request.id, token: facts.token,
        user: facts.user, snapshot: record.id,
        report: record.report, address: request.peer, status: problem?.status.code, problem: problem?.kindName
      ))
  }
}
