package import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
package import Tracing

/// Continues the trace of a request with a new span.
package struct TracingMiddleware: Middleware {
  let tracer: (any Tracer)?

  /// Creates a middleware that records spans with `tracer`. Without a tracer, it only passes on the trace id.
  package init(tracer: (any Tracer)?) {
    self.tracer = tracer
  }

  /// Reads the fields that a tracer needs from a request's head.
  private struct Fields: Extractor {
    func extract(key: String, from carrier: HTTPFields) -> String? {
      HTTPField.Name(key).flatMap { carrier[$0] }
    }
  }

  package func respond(
    to request: HTTPServerRequest, next: Responder<HTTPServerRequest>
  ) async throws -> HTTPServerResponse {
    // Two values, which are joined with a comma, are ambiguous and are ignored (W3C Trace Context §3.2.2).
    let parent = request.headerFields[.traceParent].flatMap { $0.contains(",") ? nil : TraceParent($0) }
    guard parent != nil || tracer != nil else { return try await next(request) }
    var context = ServiceContext.current ?? .topLevel
    context.traceParent = parent
    if let parent { request.context?.update { $0.traceID = parent.traceID } }
    if let tracer { return try await respond(to: request, context, by: tracer, next) }
    return try await ServiceContext.withValue(context) { try await next(request) }
  }

  private func respond<Some: Tracer>(
    to request: HTTPServerRequest, _ context: ServiceContext, by tracer: Some,
    _ next: Responder<HTTPServerRequest>
  ) async throws -> HTTPServerResponse {
    var context = context
    tracer.extract(request.headerFields, into: &context, using: Fields())
    let method = request.method.rawValue
    return try await tracer.withSpan(method, context: context, ofKind: .server) { span in
      span.attributes["http.request.method"] = method
      span.attributes["url.path"] = request.path
      span.attributes["http.request.id"] = request.id
      func end(_ status: Int) {
        if let route = request.context?.route {
          span.operationName = route.name
          span.attributes["http.route"] = String(route.name.drop { $0 != "/" })
        }
        span.attributes["http.response.status_code"] = status
        if status >= 500 { span.setStatus(SpanStatus(code: .error)) }
      }
      do {
        let response = try await next(request)
        end(response.status.code)
        return response
      } catch {
        if let problem = error as? HTTPProblem { end(problem.status.code) }
        throw error
      }
    }
  }
}
