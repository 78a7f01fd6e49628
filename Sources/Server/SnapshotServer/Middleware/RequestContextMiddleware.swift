import HTTPEngine
import Observability

/// Gives a request the ``RequestContext`` that every other step reads and writes.
struct RequestContextMiddleware: Middleware {
  func respond(
    to request: HTTPServerRequest, next: Responder<HTTPServerRequest>
  ) async throws -> HTTPServerResponse {
    request.note = RequestContext()
    return try await next(request)
  }
}
