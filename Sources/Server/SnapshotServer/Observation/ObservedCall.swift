import CoreMetrics
import HTTPEngine
import HTTPTypes
import Logging
import SnapshotFormat

/// A call of the API, or a web page, whose requests are counted and accounted for.
///
/// The audit log comes before the answer: what could not be written down is not given away. A call that changes
/// something is refused beforehand while the log is failing; should it fail just then, what was done stays done and is
/// told, and the server's own log has the event.
struct ObservedCall: Sendable {
  private let metrics: RouteMetrics
  private let server: ServerMetrics
  private let audit: AuditLog?
  private let audited: Endpoint.Audited
  private let logger: Logger
  /// What the audit log calls it.
  private let action: String
  private let isUpload: Bool

  init(_ endpoint: Endpoint, _ observation: Observation, logger: Logger) {
    metrics = RouteMetrics(endpoint.name, factory: observation.metrics.factory)
    server = observation.metrics
    audited = endpoint.audited
    audit = endpoint.audited == .never ? nil : observation.audit
    action = endpoint.id
    isUpload = endpoint.isUpload
    self.logger = logger
  }

  /// Counts a request that gives nothing away.
  func count(_ request: HTTPServerRequest) {
    (request.note as? RequestContext)?.update { $0.route = metrics }
  }

  func perform(
    _ routed: RoutedRequest, _ answer: () async throws -> HTTPServerResponse
  ) async throws -> HTTPServerResponse {
    let request = routed.request
    let note = request.note as? RequestContext ?? RequestContext()
    note.update { $0.route = metrics }
    guard audit != nil || isUpload else { return try await answer() }
    note.update { facts in
      facts.snapshot = routed.lenientValue(of: .id)
      facts.report = routed.lenientValue(of: .report)
    }
    let changes = request.method != .get && request.method != .head
    if changes, audit?.isFailing == true {
      // Is it over? Only a line that can be written shows it.
      try await write(event(request, note, .failed, problem: SnapshotProblem.auditUnavailable))
    }
    let result: Result<HTTPServerResponse, any Error>
    do { result = .success(try await answer()) } catch { result = .failure(error) }
    count(result, note.facts.ending)
    if audited == .refusals, case .success(let response) = result { return response }
    let event = event(request, note, result)
    do {
      try await write(event)
    } catch  where changes {
      logger.critical("An event is missing in the audit log", metadata: ["event": "\(event.line.dropLast())"])
    } catch {
      if case .success = result { throw error }
    }
    return try result.get()
  }

  private func write(_ event: AuditEvent) async throws(HTTPProblem) {
    guard let audit else { return }
    do throws(AuditLog.Failure) {
      if event.result == .refused {
        try await audit.writeRefusal(event)
      } else {
        try await audit.write(event)
      }
      server.auditWritten.increment()
    } catch {
      server.auditLost.increment()
      throw SnapshotProblem.auditUnavailable
    }
  }

  private func event(
    _ request: HTTPServerRequest, _ note: RequestContext, _ result: Result<HTTPServerResponse, any Error>
  ) -> AuditEvent {
    switch result {
    case .success(let response): event(request, note, .done, status: response.status.code)
    case .failure(let error):
      switch SnapshotProblem.answer(to: error) {
      case let problem?: event(request, note, Self.result(problem), problem: problem)
      case nil: event(request, note, .failed)
      }
    }
  }

  private static func result(_ problem: HTTPProblem) -> AuditEvent.Result {
    problem.status.code < 500 || problem.status.code == 507 ? .refused : .failed
  }

  private func event(
    _ request: HTTPServerRequest, _ note: RequestContext, _ result: AuditEvent.Result, status: Int? = nil,
    problem: HTTPProblem? = nil
  ) -> AuditEvent {
    let facts = note.facts
    return AuditEvent(
      action, result, request: request.id, token: facts.token, usesLink: facts.usesLink,
      snapshot: facts.snapshot, comparedWith: facts.comparedWith, report: facts.report,
      address: request.peer,
      status: status ?? problem?.status.code, problem: problem.map(Self.name))
  }

  private static func name(_ problem: HTTPProblem) -> String {
    ProblemKind(problem)?.rawValue ?? problem.type
  }

  /// Counts an upload that ended. Of one that takes several requests, those that leave it open are not counted.
  private func count(_ result: Result<HTTPServerResponse, any Error>, _ ending: RequestContext.Ending?) {
    guard isUpload, ending != .open else { return }
    switch result {
    case .success(let response):
      server.countUpload(ending?.rawValue ?? (response.status == .created ? "created" : "repeated"))
    case .failure(let error):
      server.countUpload(SnapshotProblem.answer(to: error).map(Self.name) ?? "broken-off")
    }
  }
}

extension RoutedRequest {
  /// The value of a parameter, if the template has it and it is in order: whether it is, the call itself says.
  fileprivate func lenientValue<Value>(of parameter: PathParameter<Value>) -> Value? {
    do { return try value(of: parameter) } catch { return nil }
  }
}
