package import HTTPEngine
import Observability

/// Gives a request the ``RequestContext`` that every other step reads and writes.
package struct RequestContextMiddleware: Middleware {
  package init() {}

  package func respond(
    to request: HTTPServerRequest, next: Responder<HTTPServerRequest>
  ) async throws -> HTTPServerResponse {
    request.note = RequestContext()
    return try await next(request)
  }
}
