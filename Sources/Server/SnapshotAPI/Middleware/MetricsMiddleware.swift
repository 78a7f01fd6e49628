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

  package func answer(_ routed: RoutedRequest, next: @escaping Responder<RoutedRequest>) -> HTTPAnswer {
    routed.request.context?.update { $0.route = metrics }
    return next(routed)
  }
}

/// Counts uploads by outcome. For an upload of several requests, only the one that ends it counts.
package struct UploadMetricsMiddleware: Middleware {
  let metrics: ServerMetrics

  /// Creates a middleware that counts uploads with `metrics`.
  package init(metrics: ServerMetrics) {
    self.metrics = metrics
  }

  package func answer(_ routed: RoutedRequest, next: @escaping Responder<RoutedRequest>) -> HTTPAnswer {
    let context = routed.request.context
    return next(routed).then { outcome in
      let ending = context?.facts.ending
      if ending != .open { metrics.countUpload(Self.name(outcome, ending)) }
      return .ready(outcome)
    }
  }

  private static func name(_ outcome: HTTPAnswer.Outcome, _ ending: RequestContext.Ending?) -> String {
    switch outcome {
    case .success(let response): ending?.rawValue ?? (response.status == .created ? "created" : "repeated")
    case .failure(let error): SnapshotProblem.answer(to: error)?.kindName ?? "broken-off"
    }
  }
}
