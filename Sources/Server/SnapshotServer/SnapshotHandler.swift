package import AccessControl
import Foundation
package import HTTPEngine
import HTTPTypes
package import Logging
package import Observability
package import SnapshotAPI
package import SnapshotDiff
package import SnapshotService
package import SnapshotViewer
package import SnapshotWeb
package import Webhooks

/// Answers all requests to a snapshot server.
///
/// This file lists the middleware that a request passes: first the middleware of all requests, then, inside the router,
/// that of its endpoint. An error becomes an ``HTTPProblem``, or a web page, that reveals nothing about the server's
/// internals. Internal errors are logged with the request's id.
package struct SnapshotHandler: HTTPHandler {
  /// The articles that the pages show.
  package static let manual = RenderedArticles.manual

  /// All endpoints of the API and all web pages.
  package let endpoints: [Endpoint]
  private let responder: Responder<HTTPServerRequest>

  /// Serves the API and the web pages of `service` to callers that `access` admits.
  /// - Parameters:
  ///   - address: the server's public address behind a proxy; `nil` if it is not known.
  ///   - uploads: resumable uploads; `nil` if they are not offered.
  ///   - more: additional endpoints.
  ///   - tracker: the issue tracker to which pages link.
  ///   - comparisonFilter: the values that comparisons on pages omit.
  ///   - copies: the disk space for inflated copies of files that pages show.
  ///   - webhooks: the webhooks, which administrators can see; `nil` if the server never has any.
  ///   - observation: records and measures the requests.
  ///   - deletionsHeld: returns why nothing is deleted automatically; `nil` if it is.
  package init(
    _ service: SnapshotService, access: AccessPolicy = .open, at address: PublicAddress? = nil,
    limits: ServiceLimits = ServiceLimits(), uploads: ResumableUploads? = nil, more: [Endpoint] = [],
    tracker: IssueTracker = IssueTracker(), comparisonFilter: ComparisonFilter = ComparisonFilter(),
    copies: CopySpace = CopySpace(folder: FileManager.default.temporaryDirectory.path),
    webhooks: Webhooks? = nil, observation: Observation = Observation(),
    deletionsHeld: @escaping @Sendable () -> String? = { nil }, logger: Logger
  ) {
    let uploadCalls = uploads?.endpoints(limits: limits) ?? []
    let api =
      SnapshotRoutes(service, limits: limits, dialect: uploads?.attachDialect).endpoints
      + LinkRoutes(service: service, access: access).endpoints
      + AttachLinkRoutes(access: access).endpoints
      + CommentRoutes(service: service, limits: limits).endpoints
      + FileRoutes(service: service, limits: limits).endpoints
      + uploadCalls + more
    let operations = OperationRoutes(
      service: service, access: access, observation: observation, deletionsHeld: deletionsHeld, listed: api,
      documentation: WebPages.documentation)
    let web = WebPages(
      service: service, access: access, limits: limits, uploads: uploadCalls, history: observation.history,
      webhooks: webhooks, tracker: tracker, comparisonFilter: comparisonFilter, copies: copies,
      manual: Self.manual,
      reference: { APIReference(api + operations.endpoints) }, logger: logger)
    endpoints = api + operations.endpoints + [WebPages.assets] + web.endpoints
    let steps = EndpointSteps(web: web, access: access, observation: observation, logger: logger)
    let router = Router(steps.routes(to: endpoints))
    responder =
      Steps(PublicAddressMiddleware(address, router))
      .then(RequestContextMiddleware())
      .then(TracingMiddleware(tracer: observation.tracer))
      .then(UploadAnnouncements(uploads, endpoints, router))
      .then(AnswerMiddleware(page: web.answer(to:of:), logger: logger))
      .then(UserMiddleware(access: access, observation: observation))
      .around { request in
        try access.requireOwnName(request)
        return try await router.respond(to: request)
      }
  }

  /// Answers one request.
  package func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
    try await responder(request)
  }
}

/// The middleware of a request after its endpoint was found.
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
    if let audit = observation.audit,
      let step = AuditMiddleware(endpoint, audit, observation.metrics, logger: logger)
    {
      steps = steps.then(step)
    }
    if endpoint.isUpload { steps = steps.then(UploadMetricsMiddleware(metrics: observation.metrics)) }
    return switch endpoint.handler {
    case .call(let handler):
      steps.then(TokenAuthentication(access: access, permission: endpoint.permission)).around(handler)
    case .page(let handler):
      steps.then(SessionAuthentication(access: access, permission: endpoint.permission))
        .around(handler)
    }
  }

  /// The routes to `endpoints`. If a call and a page share a path template, `Accept` decides which one answers.
  func routes(to endpoints: [Endpoint]) -> [Route] {
    var pages = endpoints.filter(\.isPage)
    let calls = endpoints.filter { !$0.isPage }.map { call in
      let answerCall = responder(for: call)
      guard let index = pages.firstIndex(where: { $0.method == call.method && $0.template == call.template })
      else { return Route(call.method, call.template, answerCall) }
      let showPage = responder(for: pages.remove(at: index))
      return Route(call.method, call.template) { routed in
        var response = try await (routed.request.acceptsHTML ? showPage : answerCall)(routed)
        response.headerFields[.vary] = "Accept"
        return response
      }
    }
    return calls + pages.map { Route($0.method, $0.template, responder(for: $0)) }
  }
}
