package import Tracing

/// Who looks on while the server answers: metrics, the audit log and traces. Without any nothing is kept.
package struct Observation: Sendable {
  /// What is counted and measured.
  package var metrics: ServerMetrics
  /// The text that `/metrics` answers, and its media type; there is no such path without one.
  package var metricsText: (text: @Sendable () async -> String, contentType: String)?
  /// Where is written who did what. What the log can't take is not done.
  package var audit: AuditLog?
  /// Has a span for every request.
  package var tracer: (any Tracer)?

  /// Nobody looks on, but for a tracer that the process was started with.
  package init(metrics: ServerMetrics = ServerMetrics(), audit: AuditLog? = nil) {
    self.metrics = metrics
    self.audit = audit
    let tracer = InstrumentationSystem.tracer
    self.tracer = tracer is NoOpTracer ? nil : tracer
  }
}
