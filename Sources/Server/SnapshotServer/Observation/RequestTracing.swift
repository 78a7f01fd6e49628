import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Tracing

/// Puts the answering of a request into the trace that its caller names, and makes a span of it.
struct RequestTracing: Sendable {
  let tracer: (any Tracer)?

  /// Reads what a tracer wants to know out of a request's fields.
  private struct Fields: Extractor {
    func extract(key: String, from carrier: HTTPFields) -> String? {
      HTTPField.Name(key).flatMap { carrier[$0] }
    }
  }

  func trace(
    _ request: HTTPServerRequest, _ note: RequestContext, _ answer: () async throws -> HTTPServerResponse
  ) async throws -> HTTPServerResponse {
    let fields = request.headerFields
    // Twice would be two opinions: it counts as none (W3C Trace Context §3.2.2).
    let parents = fields[values: .traceParent]
    let parent = parents.count == 1 ? TraceParent(parents[0]) : nil
    guard parent != nil || tracer != nil else { return try await answer() }
    var context = ServiceContext.current ?? .topLevel
    context.traceParent = parent
    if let parent { note.update { $0.traceID = parent.traceID } }
    if let tracer { return try await trace(request, note, context, by: tracer, answer) }
    return try await ServiceContext.withValue(context) { try await answer() }
  }

  private func trace<Some: Tracer>(
    _ request: HTTPServerRequest, _ note: RequestContext, _ context: ServiceContext, by tracer: Some,
    _ answer: () async throws -> HTTPServerResponse
  ) async throws -> HTTPServerResponse {
    var context = context
    tracer.extract(request.headerFields, into: &context, using: Fields())
    let method = request.method.rawValue
    return try await tracer.withSpan(method, context: context, ofKind: .server) { span in
      span.attributes["http.request.method"] = method
      span.attributes["url.path"] = request.path
      span.attributes["http.request.id"] = request.id
      func end(_ status: Int) {
        if let route = note.facts.route {
          span.operationName = route.name
          span.attributes["http.route"] = String(route.name.drop { $0 != "/" })
        }
        span.attributes["http.response.status_code"] = status
        if status >= 500 { span.setStatus(SpanStatus(code: .error)) }
      }
      do {
        let response = try await answer()
        end(response.status.code)
        return response
      } catch {
        if let problem = error as? HTTPProblem { end(problem.status.code) }
        throw error
      }
    }
  }
}
