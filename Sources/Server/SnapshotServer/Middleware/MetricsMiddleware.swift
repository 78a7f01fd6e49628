import HTTPEngine
import HTTPTypes
import Observability

/// Makes the metrics of an endpoint count the request, which ``RequestObserver`` does at its end.
struct MetricsMiddleware: Middleware {
  let metrics: RouteMetrics

  func respond(to routed: RoutedRequest, next: Responder<RoutedRequest>) async throws -> HTTPServerResponse {
    routed.request.context?.update { $0.route = metrics }
    return try await next(routed)
  }
}

/// Counts uploads by how they ended. Of an upload of several requests, only the one that ends it counts.
struct UploadMetricsMiddleware: Middleware {
  let metrics: ServerMetrics

  func respond(to routed: RoutedRequest, next: Responder<RoutedRequest>) async throws -> HTTPServerResponse {
    let context = routed.request.context
    do {
      let response = try await next(routed)
      let ending = context?.facts.ending
      if ending != .open {
        metrics.countUpload(ending?.rawValue ?? (response.status == .created ? "created" : "repeated"))
      }
      return response
    } catch {
      if context?.facts.ending != .open {
        metrics.countUpload(SnapshotProblem.answer(to: error)?.kindName ?? "broken-off")
      }
      throw error
    }
  }
}
