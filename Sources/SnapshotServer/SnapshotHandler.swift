public import HTTPEngine
import HTTPSemantics
import HTTPTypes
public import Logging

/// Answers all requests to a snapshot server.
///
/// Every answer forbids sniffing. Whatever goes wrong becomes an ``HTTPProblem`` that says nothing of the server's
/// insides; what is the server's own fault is logged under the request's id.
public struct SnapshotHandler: HTTPHandler {
  private let router: Router
  /// Every call that is answered.
  public let routes: [APIRoute]
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
    router = Router(
      routes.map { $0.route(access, ObservedCall($0, observation, logger: logger)) })
    announcements = uploads.map(UploadAnnouncements.init)
    tracing = RequestTracing(tracer: observation.tracer)
    self.logger = logger
  }

  /// Answers one request.
  public func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
    let note = RequestNote()
    request.note = note
    return try await tracing.trace(request, note) { try await answer(request) }
  }

  private func answer(_ request: HTTPServerRequest) async throws -> HTTPServerResponse {
    do {
      var response = try await router.respond(to: request)
      response.headerFields[.xContentTypeOptions] = "nosniff"
      response.headerFields[.xRequestID] = request.id
      announcements?.add(to: &response.headerFields, of: request)
      return response
    } catch {
      if SnapshotProblem.isInternal(error) {
        logger.error(
          "A request failed",
          metadata: ["request": "\(request.id)", "method": "\(request.method)", "error": "\(error)"])
      }
      guard var problem = SnapshotProblem.answer(to: error) else { throw error }
      problem.headerFields[.xContentTypeOptions] = "nosniff"
      announcements?.add(to: &problem.headerFields, of: request)
      throw problem
    }
  }
}
