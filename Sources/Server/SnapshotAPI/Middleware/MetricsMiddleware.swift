package import HTTPEngine
import HTTPTypes
package import Observability

/// Sets the metrics that count the request. ``RequestObserver`` counts it at its end.
package struct MetricsMiddleware: Middleware {
  let metrics: RouteMetrics

  /// Creates a middleware that counts requests with `metrics`.
  package init(metrics: RouteMetrics) {
    self.metrics = metrics
  }

  package func respond(
    to routed: RoutedRequest, next: Responder<RoutedRequest>
  ) async throws -> HTTPServerResponse {
    routed.request.context?.update { $0.route = metrics }
    return try await next(routed)
  }
}

/// Counts uploads by outcome. For an upload of several requests, only the one that ends it counts.
package struct UploadMetricsMiddleware: Middleware {
  let metrics: ServerMetrics

  /// Creates a middleware that counts uploads with `metrics`.
  package init(metrics: ServerMetrics) {
    self.metrics = metrics
  }

  package func respond(
    to routed: RoutedRequest, next: Responder<RoutedRequest>
  ) async throws -> HTTPServerResponse {
    let context = routed.request.context
    do {
      let response = try await next(routed)
      count(
        context, context?.facts.ending?.rawValue ?? (response.status == .created ? "created" : "repeated"))
      return response
    } catch {
      count(context, SnapshotProblem.answer(to: error)?.kindName ?? "broken-off")
      throw error
    }
  }

  private func count(_ context: RequestContext?, _ outcome: String) {
    if context?.facts.ending != .open { metrics.countUpload(outcome) }
  }
}
