public import HTTPEngine
import HTTPSemantics
import HTTPTypes
public import Logging

/// Answers all requests to a snapshot server.
///
/// Every answer forbids sniffing. Whatever goes wrong becomes an ``HTTPProblem``, or a page for people, that says nothing
/// of the server's insides; what is the server's own fault is logged under the request's id.
public struct SnapshotHandler: HTTPHandler {
  private let router: Router
  /// Every call that is answered.
  public let routes: [APIRoute]
  /// Every web page.
  public let pages: [PageRoute]
  private let web: WebPages
  private let announcements: UploadAnnouncements?
  private let tracing: RequestTracing
  private let logger: Logger

  /// Serves the API of `service`, what `more` routes to, and what says how the server fares, to whom `access` admits,
  /// while `observation` looks on. Uploads may be resumed where there is `uploads`.
  public init(
    _ service: SnapshotService, access: AccessControl = .open, limits: ServiceLimits = ServiceLimits(),
    uploads: ResumableUploads? = nil, more: [APIRoute] = [], observation: Observation = Observation(),
    logger: Logger
  ) {
    let api =
      SnapshotRoutes(service, limits: limits, uploads: uploads).routes
      + LinkRoutes(service: service, access: access).routes
      + FileRoutes(service: service, limits: limits).routes
      + (uploads?.routes(service, limits: limits) ?? []) + more
    routes = api + Self.operations(describing: api, service, access, observation)
    web = WebPages(service: service, access: access, limits: limits, logger: logger)
    pages = web.routes
    router = Router(Self.routes(routes, web, access, observation, logger: logger))
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

  /// The API's routes and the pages'. Where both are, what the client wants to see says which.
  private static func routes(
    _ api: [APIRoute], _ web: WebPages, _ access: AccessControl, _ observation: Observation, logger: Logger
  ) -> [Route] {
    var pages = web.routes
    let calls = api.map { call in
      let answer = call.answer(access, ObservedCall(call, observation, logger: logger))
      guard let index = pages.firstIndex(where: { $0.method == call.method && $0.template == call.template })
      else { return Route(call.method, call.template, answer) }
      let show = web.answer(pages[index], ObservedCall(pages[index], observation, logger: logger))
      pages.remove(at: index)
      return Route(call.method, call.template) { routed in
        var response = try await routed.request.acceptsHTML ? show(routed) : answer(routed)
        response.headerFields[.vary] = "Accept"
        return response
      }
    }
    let assets = WebPages.assets
    let observed = ObservedCall(
      Operation.route(assets.method, assets.template), action: "readAsset", audited: .never, observation,
      logger: logger)
    return calls + [Route(assets.method, assets.template, assets.answer(access, observed))]
      + pages.map {
        Route($0.method, $0.template, web.answer($0, ObservedCall($0, observation, logger: logger)))
      }
  }

  /// Logs what is the server's own fault.
  static func log(_ error: any Error, of request: HTTPServerRequest, to logger: Logger) {
    logger.error(
      "A request failed",
      metadata: ["request": "\(request.id)", "method": "\(request.method)", "error": "\(error)"])
  }
}
