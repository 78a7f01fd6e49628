public import HTTPEngine
import HTTPSemantics
import HTTPTypes
package import Logging

/// Answers all requests to a snapshot server.
///
/// Every answer forbids sniffing. Whatever goes wrong becomes an ``HTTPProblem``, or a page for people, that says nothing
/// of the server's insides; what is the server's own fault is logged under the request's id.
public struct SnapshotHandler: HTTPHandler {
  private let router: Router
  /// Every call and every web page.
  package let endpoints: [Endpoint]
  private let web: WebPages
  private let announcements: UploadAnnouncements?
  private let tracing: RequestTracing
  private let logger: Logger

  /// Serves the API and the web pages of `service` to callers that `access` admits.
  /// - Parameters:
  ///   - uploads: resumable uploads; without it they are not offered.
  ///   - more: further calls.
  ///   - observation: what records and measures the requests.
  package init(
    _ service: SnapshotService, access: AccessControl = .open, limits: ServiceLimits = ServiceLimits(),
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
    web = WebPages(service: service, access: access, limits: limits, logger: logger)
    endpoints = api + operations.endpoints + [WebPages.assets] + web.endpoints
    router = Router(Self.routes(endpoints, web, access, observation, logger: logger))
    announcements = uploads.map(UploadAnnouncements.init)
    tracing = RequestTracing(tracer: observation.tracer)
    self.logger = logger
  }

  /// Answers one request.
  public func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
    let note = RequestContext()
    request.note = note
    return try await tracing.trace(request, note) { try await answer(request) }
  }

  private func answer(_ request: HTTPServerRequest) async throws -> HTTPServerResponse {
    var response: HTTPServerResponse
    do {
      response = Self.heedingCondition(try await router.respond(to: request), request)
      announcements?.add(to: &response.headerFields, of: request)
    } catch {
      if SnapshotProblem.isInternal(error) { Self.log(error, of: request, to: logger) }
      guard let problem = SnapshotProblem.answer(to: error) else { throw SnapshotProblem.brokenBody(error) }
      guard isForPeople(request) else { throw complete(problem, request) }
      response = try await web.answer(to: problem, of: request)
    }
    response.headerFields[.xContentTypeOptions] = "nosniff"
    response.headerFields[.xRequestID] = request.id
    return response
  }

  /// `If-None-Match: *` asks for content only where there is none: what has no validators of its own has to heed it too
  /// (RFC 9110 §13.1.2).
  private static func heedingCondition(
    _ response: HTTPServerResponse, _ request: HTTPServerRequest
  ) -> HTTPServerResponse {
    guard response.status == .ok, request.method == .get || request.method == .head,
      Preconditions(request.headerFields).verdict(request.method, on: .init()) == .notModified
    else { return response }
    let kept = [HTTPField.Name.cacheControl, .contentLocation, .eTag, .expires, .lastModified, .vary]
    return HTTPServerResponse(
      status: .notModified, headerFields: HTTPFields(response.headerFields.filter { kept.contains($0.name) }))
  }

  private func complete(_ problem: HTTPProblem, _ request: HTTPServerRequest) -> HTTPProblem {
    var problem = problem
    problem.headerFields[.xContentTypeOptions] = "nosniff"
    announcements?.add(to: &problem.headerFields, of: request)
    return problem
  }

  /// Whether a browser asks for what neither the API nor a page has.
  private func isForPeople(_ request: HTTPServerRequest) -> Bool {
    (request.note as? RequestContext)?.facts.route == nil && !request.path.hasPrefix("/v1")
      && request.acceptsHTML
  }

  /// The routes to `endpoints`. Where a call and a page share a template, `Accept` decides.
  private static func routes(
    _ endpoints: [Endpoint], _ web: WebPages, _ access: AccessControl, _ observation: Observation,
    logger: Logger
  ) -> [Route] {
    func action(of endpoint: Endpoint) -> Route.Action {
      let observed = ObservedCall(endpoint, observation, logger: logger)
      switch endpoint.handler {
      case .call(let handler): return answer(endpoint, handler, access, observed)
      case .page(let handler): return web.answer(endpoint, handler, observed)
      }
    }
    var pages = endpoints.filter(\.isPage)
    let calls = endpoints.filter { !$0.isPage }.map { call in
      let answerCall = action(of: call)
      guard let index = pages.firstIndex(where: { $0.method == call.method && $0.template == call.template })
      else { return Route(call.method, call.template, answerCall) }
      let showPage = action(of: pages.remove(at: index))
      return Route(call.method, call.template) { routed in
        var response = try await routed.request.acceptsHTML ? showPage(routed) : answerCall(routed)
        response.headerFields[.vary] = "Accept"
        return response
      }
    }
    return calls + pages.map { Route($0.method, $0.template, action(of: $0)) }
  }

  /// Answers callers that `access` admits.
  private static func answer(
    _ endpoint: Endpoint, _ handler: @escaping Endpoint.CallHandler, _ access: AccessControl,
    _ observed: ObservedCall
  ) -> Route.Action {
    { routed in
      try await observed.perform(routed) {
        let caller = try await access.admit(routed, endpoint.permission)
        routed.request.record(caller)
        var response = try await handler(APIRequest(routed, caller: caller))
        for field in caller.answerFields { response.headerFields[field.name] = field.value }
        return response
      }
    }
  }

  /// Logs what is the server's own fault.
  static func log(_ error: any Error, of request: HTTPServerRequest, to logger: Logger) {
    logger.error(
      "A request failed",
      metadata: ["request": "\(request.id)", "method": "\(request.method)", "error": "\(error)"])
  }
}
