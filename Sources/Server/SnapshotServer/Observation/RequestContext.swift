import HTTPEngine
import SnapshotFormat
import SnapshotStore
import Synchronization

/// What becomes known of a request while it is answered, for whoever counts, logs and audits it.
final class RequestContext: Sendable {
  struct Facts: Sendable {
    /// What counts for the route; `nil` until one was found.
    var route: RouteMetrics?
    var token: String?
    var usesLink = false
    var snapshot: SnapshotID?
    /// What it is compared with.
    var comparedWith: SnapshotID?
    var report: ReportID?
    var traceID: String?
    /// Ends the call with the token that it was admitted with.
    var running: RunningCall?
    /// How far the answer has come, for a page.
    var page: PageProgress?
    /// How an upload ended with the request, for one that takes several.
    var ending: Ending?
  }

  /// How an upload ended.
  enum Ending: String, Sendable { case created, repeated, open }

  private let state = Mutex(Facts())

  var facts: Facts { state.withLock { $0 } }

  func update(_ change: (inout Facts) -> Void) { state.withLock { change(&$0) } }
}

/// Gives a request the ``RequestContext`` that every other step reads and writes.
struct RequestContextMiddleware: Middleware {
  func respond(
    to request: HTTPServerRequest, next: Responder<HTTPServerRequest>
  ) async throws -> HTTPServerResponse {
    request.note = RequestContext()
    return try await next(request)
  }
}

extension HTTPServerRequest {
  /// What is known of the request so far.
  var context: RequestContext? { note as? RequestContext }

  /// Tells whoever accounts for the request which token came with it, whether or not it is enough.
  func record(token id: String) { context?.update { $0.token = id } }

  /// Tells whoever accounts for the request who makes it.
  func record(_ caller: Caller) {
    context?.update { facts in
      facts.token = caller.token
      if case .link = caller.credential { facts.usesLink = true }
    }
  }
}

extension PageCall {
  /// Tells whoever accounts for the request which other snapshot it is about.
  func compares(with other: SnapshotID) {
    request.context?.update { $0.comparedWith = other }
  }
}

extension APIRequest {
  /// Tells whoever accounts for the request which upload it is about.
  func concerns(_ status: UploadStatus) {
    request.context?.update { facts in
      facts.snapshot = status.terms.attachment?.id
      facts.report = status.terms.attachment?.report
    }
  }

  /// Tells whoever accounts for the request that an upload of several requests goes on after it, unless
  /// ``ends(with:)`` knows better.
  func leavesUploadOpen() { request.context?.update { $0.ending = .open } }

  /// Tells whoever accounts for the request which upload it brought bytes to, and how that ended, if it has.
  func ends(with status: UploadStatus) {
    concerns(status)
    request.context?.update { facts in
      switch status.outcome {
      case .published(_, let isNew): facts.ending = isNew ? .created : .repeated
      case .refused: facts.ending = nil
      case nil: facts.ending = .open
      }
    }
  }

  /// Tells whoever accounts for the request what it is about, where the path alone does not.
  func concerns(_ record: SnapshotRecord) {
    request.context?.update { facts in
      facts.snapshot = record.id
      facts.report = record.report
    }
  }
}
