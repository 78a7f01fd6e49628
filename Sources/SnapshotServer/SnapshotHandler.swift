public import HTTPEngine
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
  private let logger: Logger

  /// Serves the API of `service`, what `more` routes to, and `/` and `/healthz`, to whom `access` admits.
  public init(
    _ service: SnapshotService, access: AccessControl = .open, limits: ServiceLimits = ServiceLimits(),
    more: [APIRoute] = [], logger: Logger
  ) {
    let api = SnapshotRoutes(service, limits: limits).routes + more
    routes = api + Self.operations(describing: api)
    router = Router(routes.map { $0.route(access) })
    self.logger = logger
  }

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

  private static func operations(describing api: [APIRoute]) -> [APIRoute] {
    let calls = api.map { "  \($0.method.rawValue) \($0.template)\n" }.joined()
    let description = Array("A server that keeps snapshots of apps' data. It answers:\n\n\(calls)".utf8)
    return [
      APIRoute(.get, "/", .open) { call in
        try Representation(.bytes(description), contentType: "text/plain; charset=utf-8")
          .response(to: call.request)
      },
      APIRoute(.get, "/healthz", .open) { _ in
        HTTPServerResponse(
          status: .ok, headerFields: [.contentType: "application/json", .cacheControl: "no-store"],
          body: .bytes(Array(#"{"status":"ok"}"#.utf8)))
      },
    ]
  }
}
