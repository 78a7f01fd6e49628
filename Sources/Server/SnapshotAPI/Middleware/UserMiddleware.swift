package import AccessControl
import CoreMetrics
package import HTTPEngine
import HTTPTypes
package import Observability

/// Refuses requests that state a user whom only a proxy may name, whatever they ask for, and records each attempt in the
/// audit log, also where the log has no other requests.
package struct UserMiddleware: Middleware {
  private let access: AccessPolicy
  private let observation: Observation

  /// Creates the step of a server that `access` protects.
  package init(access: AccessPolicy, observation: Observation) {
    (self.access, self.observation) = (access, observation)
  }

  package func respond(
    to request: HTTPServerRequest, next: Responder<HTTPServerRequest>
  ) async throws -> HTTPServerResponse {
    do {
      try await access.requireGenuineUser(request)
    } catch {
      if let problem = error as? HTTPProblem { await record(problem, of: request) }
      throw error
    }
    return try await next(request)
  }

  private func record(_ problem: HTTPProblem, of request: HTTPServerRequest) async {
    guard let audit = observation.audit else { return }
    let event = AuditEvent(
      .stateUser, .refused, request: request.id, address: request.peer, status: problem.status.code,
      problem: problem.kindName)
    do {
      try await audit.writeRefusal(event)
      observation.metrics.auditWritten.increment()
    } catch {
      // The request is refused all the same, and the audit log reports its own failures.
      observation.metrics.auditLost.increment()
    }
  }
}
