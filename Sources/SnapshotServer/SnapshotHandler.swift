public import HTTPEngine
import HTTPTypes
public import Logging

/// Answers all requests to a snapshot server.
///
/// Every answer forbids sniffing. Whatever goes wrong becomes an ``HTTPProblem`` that says nothing of the server's
/// insides; what is the server's own fault is logged under the request's id.
public struct SnapshotHandler: HTTPHandler {
  private let router: Router
  private let logger: Logger

  /// Serves the API of `service`, what `more` routes to, and `/` and `/healthz`.
  public init(
    _ service: SnapshotService, limits: ServiceLimits = ServiceLimits(), more: [Route] = [], logger: Logger
  ) {
    let api = SnapshotRoutes(service, limits: limits).routes + more
    router = Router(api + Self.operations(describing: api))
    self.logger = logger
  }

  /// Every route that is answered.
  public var routes: [Route] { router.routes }

  /// Answers one request.
  public func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
    do {
      var response = try await router.respond(to: request)
      response.headerFields[.xContentTypeOptions] = "nosniff"
      return response
    } catch {
      if SnapshotProblem.isInternal(error) {
        logger.error(
          "A request failed",
          metadata: ["request": "\(request.id)", "method": "\(request.method)", "error": "\(error)"])
      }
      guard var problem = SnapshotProblem.answer(to: error) else { throw error }
      problem.headerFields[.xContentTypeOptions] = "nosniff"
      throw problem
    }
  }

  private static func operations(describing api: [Route]) -> [Route] {
    let calls = api.map { "  \($0.method.rawValue) \($0.template)\n" }.joined()
    let description = Array("A server that keeps snapshots of apps' data. It answers:\n\n\(calls)".utf8)
    return [
      Route(.get, "/") { routed in
        try Representation(.bytes(description), contentType: "text/plain; charset=utf-8")
          .response(to: routed.request)
      },
      Route(.get, "/healthz") { _ in
        HTTPServerResponse(
          status: .ok, headerFields: [.contentType: "application/json", .cacheControl: "no-store"],
          body: .bytes(Array(#"{"status":"ok"}"#.utf8)))
      },
    ]
  }
}
