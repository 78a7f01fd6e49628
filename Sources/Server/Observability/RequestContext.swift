import HTTPEngine
package import SnapshotFormat
import SnapshotStore
import Synchronization

/// What becomes known of a request while it is answered, for whoever counts, logs and audits it.
package final class RequestContext: Sendable {
  package struct Facts: Sendable {
    /// What counts for the route; `nil` until one was found.
    package var route: RouteMetrics?
    package var token: String?
    package var usesLink = false
    package var snapshot: SnapshotID?
    /// What it is compared with.
    package var comparedWith: SnapshotID?
    package var report: ReportID?
    package var traceID: String?
    /// Keeps the call among those that end with their token, for as long as the request lives.
    package var running: (any Sendable)?
    /// How an upload ended with the request, for one that takes several.
    package var ending: Ending?
  }

  /// How an upload ended.
  package enum Ending: String, Sendable { case created, repeated, open }

  private let state = Mutex(Facts())

  package init() {}

  package var facts: Facts { state.withLock { $0 } }

  package func update(_ change: (inout Facts) -> Void) { state.withLock { change(&$0) } }
}

extension HTTPServerRequest {
  /// What is known of the request so far.
  package var context: RequestContext? { note as? RequestContext }

  /// Tells whoever accounts for the request which token came with it, whether or not it is enough.
  package func record(token id: String) { context?.update { $0.token = id } }
}
