package import HTTPEngine
import HTTPTypes
package import Observability

/// Makes the metrics of an endpoint count the request, which ``RequestObserver`` does at its end.
package struct MetricsMiddleware: Middleware {
  let metrics: RouteMetrics

  /// Has requests counted by `metrics`.
  package init(metrics: RouteMetrics) {
    self.metrics = metrics
  }

  package func respond(to routed: RoutedRequest, next: Responder<RoutedRequest>) async throws
    -> HTTPServerResponse
  {
    routed.request.context?.update { $0.route = metrics }
    return try await next(routed)
  }
}

/// Counts uploads by how they ended. Of an upload of several requests, only the one that ends it counts.
package struct UploadMetricsMiddleware: Middleware {
  let metrics: ServerMetrics

  /// Counts uploads by `metrics`.
  package init(metrics: ServerMetrics) {
    self.metrics = metrics
  }

  package func respond(to routed: RoutedRequest, next: Responder<RoutedRequest>) async throws
    -> HTTPServerResponse
  {
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
