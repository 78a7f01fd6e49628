import AccessControl
import CoreMetrics
package import HTTPEngine
import HTTPTypes
package import Logging
package import Observability
import SnapshotFormat

/// Records the requests of an endpoint in the audit log, before they are answered.
///
/// If an event can't be recorded, no data is disclosed. While the log fails, a call that changes state is refused
/// before it runs. If the log fails after such a call, the change is kept and answered, and the server's own log has
/// the event.
package final class AuditMiddleware: Middleware {
  /// The endpoint's name in the audit log.
  private let action: String
  private let recordsRefusalsOnly: Bool
  private let audit: AuditLog
  private let metrics: ServerMetrics
  private let logger: Logger

  package init(_ endpoint: Endpoint, _ audit: AuditLog, _ metrics: ServerMetrics, logger: Logger) {
    action = endpoint.id
    recordsRefusalsOnly = endpoint.audited == .refusals
    self.audit = audit
    self.metrics = metrics
    self.logger = logger
  }

  package func answer(_ routed: RoutedRequest, next: @escaping Responder<RoutedRequest>) -> HTTPAnswer {
    let request = routed.request
    let context = request.context ?? RequestContext()
    context.update { facts in
      // The call itself reports malformed values.
      facts.snapshot = routed.valueIfValid(of: .id)
      facts.report = routed.valueIfValid(of: .report)
    }
    let changes = request.method != .get && request.method != .head
    @Sendable func answer() -> HTTPAnswer {
      next(routed).then { [self] outcome in
        if recordsRefusalsOnly, case .success = outcome { return .ready(outcome) }
        return recorded(outcome, event(request, context, outcome), changes: changes)
      }
    }
    guard changes, audit.isFailing else { return answer() }
    return .pending { [self] in
      // Only a written line shows whether the log works again.
      try await write(event(request, context, .failed, problem: HTTPProblem.auditUnavailable))
      return try await answer().response()
    }
  }

  private func write(_ event: AuditEvent) async throws(HTTPProblem) {
    do throws(AuditLog.Failure) {
      try await audit.write(event)
      metrics.auditWritten.increment()
    } catch {
      metrics.auditLost.increment()
      throw HTTPProblem.auditUnavailable
    }
  }

  /// Returns the answer that waits until `event` is in the log.
  private func recorded(_ outcome: HTTPAnswer.Outcome, _ event: AuditEvent, changes: Bool) -> HTTPAnswer {
    let entry = event.result == .refused ? audit.addRefusal(event) : audit.add(event)
    return .waiting { [self] completion in
      audit.finish(entry) { [self] writing in
        guard case .failure = writing else {
          metrics.auditWritten.increment()
          return completion(outcome)
        }
        metrics.auditLost.increment()
        if changes {
          logger.critical(
            "An event is missing in the audit log", metadata: ["event": "\(event.line.dropLast())"])
        } else if case .success = outcome {
          return completion(.failure(HTTPProblem.auditUnavailable))
        }
        completion(outcome)
      }
    }
  }

  private func event(
    _ request: HTTPServerRequest, _ context: RequestContext, _ result: HTTPAnswer.Outcome
  ) -> AuditEvent {
    switch result {
    case .success(let response): event(request, context, .done, status: response.status.code)
    case .failure(let error):
      switch SnapshotProblem.answer(to: error) {
      case let problem?: event(request, context, Self.result(problem), problem: problem)
      case nil: event(request, context, .failed)
      }
    }
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
      action, result, request: request.id, token: facts.token, usesLink: facts.usesLink,
      snapshot: facts.snapshot, comparedWith: facts.comparedWith, report: facts.report,
      address: request.peer,
      status: status ?? problem?.status.code, problem: problem?.kindName)
  }
}
