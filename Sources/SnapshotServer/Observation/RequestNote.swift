import HTTPEngine
import SnapshotFormat
import SnapshotStore
import Synchronization

/// What becomes known of a request while it is answered, for whoever counts, logs and audits it.
final class RequestNote: Sendable {
  struct Facts: Sendable {
    /// What counts for the route; `nil` until one was found.
    var route: RouteMetrics?
    var token: String?
    var usesLink = false
    var snapshot: SnapshotID?
    var report: ReportID?
    var traceID: String?
  }

  private let state = Mutex(Facts())

  var facts: Facts { state.withLock { $0 } }

  func update(_ change: (inout Facts) -> Void) { state.withLock { change(&$0) } }
}

extension HTTPServerRequest {
  /// Tells whoever accounts for the request which token came with it, whether or not it is enough.
  func tell(ofToken id: String) { (note as? RequestNote)?.update { $0.token = id } }

  /// Tells whoever accounts for the request who makes it.
  func tell(of caller: Caller) {
    (note as? RequestNote)?.update { facts in
      facts.token = caller.token
      if case .link = caller.credential { facts.usesLink = true }
    }
  }
}

extension APIRequest {
  /// Tells whoever accounts for the request what it is about, where the path alone does not.
  func concerns(_ record: SnapshotRecord) {
    (request.note as? RequestNote)?.update { facts in
      facts.snapshot = record.id
      facts.report = record.report
    }
  }
}
