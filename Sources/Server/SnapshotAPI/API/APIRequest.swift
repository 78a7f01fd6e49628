package import AccessControl
package import HTTPEngine
package import SnapshotFormat
import Observability
import SnapshotStore

/// A call whose caller was admitted.
package struct APIRequest: Sendable {
  /// The request, and what its route took from the path.
  package let routed: RoutedRequest
  /// Who makes the call.
  package let caller: Caller

  /// A call of `caller`.
  package init(_ routed: RoutedRequest, caller: Caller) {
    self.routed = routed
    self.caller = caller
  }

  /// The request.
  package var request: HTTPServerRequest { routed.request }
  /// The template that the path fits.
  package var template: String { routed.template }
  /// The segments that `{name...}` stands for, each decoded by itself.
  package var remainder: [String] { routed.remainder }

  /// What `parameter` makes of its segment of the path.
  package func value<Value>(of parameter: PathParameter<Value>) throws -> Value {
    try routed.value(of: parameter)
  }

  /// The query, decoded; throws an ``HTTPProblem`` where it is malformed.
  package func query() throws(HTTPProblem) -> QueryParameters { try routed.query() }
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
  package func concerns(_ record: SnapshotRecord) {
    request.context?.update { facts in
      facts.snapshot = record.id
      facts.report = record.report
    }
  }
}
