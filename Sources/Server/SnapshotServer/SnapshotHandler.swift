package import AccessControl
package import HTTPEngine
import HTTPTypes
package import Logging
package import Observability
package import SnapshotAPI
import SnapshotWeb

/// Answers all requests to a snapshot server.
///
/// The file lists the steps that a request passes: those of every request, then, inside of the router, those of its
/// endpoint. An error becomes an ``HTTPProblem``, or a page for people, that says nothing of the server's internals. The
/// server's own faults are logged under the request's id.
package struct SnapshotHandler: HTTPHandler {
  /// Every call and every web page.
  package let endpoints: [Endpoint]
  private let answer: Responder<HTTPServerRequest>

  /// Serves the API and the web pages of `service` to callers that `access` admits.
  /// - Parameters:
  ///   - uploads: resumable uploads; without it they are not offered.
  ///   - more: further calls.
  ///   - observation: what records and measures the requests.
  package init(
    _ service: SnapshotService, access: AccessPolicy = .open, limits: ServiceLimits = ServiceLimits(),
    uploads: ResumableUploads? = nil, more: [Endpoint] = [], observation: Observation = Observation(),
    logger: Logger
  ) {
    let api =
      SnapshotRoutes(service, limits: limits, uploads: uploads).endpoints
      + LinkRoutes(service: service, access: access).endpoints
      + FileRoutes(service: service, limits: limits).endpoints
      + (uploads?.endpoints(service, limits: limits) ?? []) + more
    let operations = OperationRoutes(
      service: service, access: access, observation: observation, listed: api)
    let web = WebPages(service: service, access: access, limits: limits, logger: logger)
    endpoints = api + operations.endpoints + [WebPages.assets] + web.endpoints
    let steps = EndpointSteps(web: web, access: access, observation: observation, logger: logger)
    let router = Router(steps.routes(to: endpoints))
    answer =
      Steps(RequestContextMiddleware())
      .then(TracingMiddleware(tracer: observation.tracer))
      .then(UploadAnnouncements(uploads, endpoints, router))
      .then(AnswerMiddleware(page: web.answer(to:of:), logger: logger))
      .around(router.respond)
  }

  /// Answers one request.
  package func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
    try await answer(request)
  }
}

/// The steps of a request once its endpoint is known.
private struct EndpointSteps {
  let web: WebPages
  let access: AccessPolicy
  let observation: Observation
  let logger: Logger

  /// Answers the requests of `endpoint`.
  private func responder(for endpoint: Endpoint) -> Responder<RoutedRequest> {
    let metrics = RouteMetrics(endpoint.name, factory: observation.metrics.factory)
    var steps = Steps(MetricsMiddleware(metrics: metrics))
    if endpoint.isPage { steps = steps.then(PageMiddleware(web: web)) }
    if endpoint.audited != .never, let audit = observation.audit {
      steps = steps.then(AuditMiddleware(endpoint, audit, observation.metrics, logger: logger))
    }
    if endpoint.isUpload { steps = steps.then(UploadMetricsMiddleware(metrics: observation.metrics)) }
    return switch endpoint.handler {
    case .call(let handler):
      steps.then(TokenAuthentication(access: access, permission: endpoint.permission)).around(handler)
    case .page(let handler):
      steps.then(SessionAuthentication(access: access, permission: endpoint.permission)).around(handler)
    }
  }

  /// The routes to `endpoints`. Where a call and a page share a template, `Accept` decides.
  func routes(to endpoints: [Endpoint]) -> [Route] {
    var pages = endpoints.filter(\.isPage)
    let calls = endpoints.filter { !$0.isPage }.map { call in
      let answerCall = responder(for: call)
      guard let index = pages.firstIndex(where: { $0.method == call.method && $0.template == call.template })
      else { return Route(call.method, call.template, answerCall) }
      let showPage = responder(for: pages.remove(at: index))
      return Route(call.method, call.template) { routed in
        var response = try await routed.request.acceptsHTML ? showPage(routed) : answerCall(routed)
        response.headerFields[.vary] = "Accept"
        return response
      }
    }
    return calls + pages.map { Route($0.method, $0.template, responder(for: $0)) }
  }
}
