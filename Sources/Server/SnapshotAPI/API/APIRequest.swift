package import AccessControl
package import HTTPEngine
package import SnapshotFormat
import Observability

/// A call with an admitted caller.
package struct APIRequest: Sendable {
  /// The request and its route.
  package let routed: RoutedRequest
  /// The caller.
  package let caller: Caller

  /// Creates a call of `caller`.
  package init(_ routed: RoutedRequest, caller: Caller) {
    self.routed = routed
    self.caller = caller
  }

  /// The request.
  package var request: HTTPServerRequest { routed.request }
  /// The path template that matches the path.
  package var template: String { routed.template }
  /// The segments matched by `{name...}`, each percent-decoded.
  package var remainder: [String] { routed.remainder }

  /// Returns the value that `parameter` parses from its segment of the path.
  package func value<Value>(of parameter: PathParameter<Value>) throws -> Value {
    try routed.value(of: parameter)
  }

  /// Returns the decoded query. Throws if it is malformed.
  package func query() throws(HTTPProblem) -> QueryParameters { try routed.query() }
}

extension APIRequest {
  /// Records the snapshot and report of the request for the audit log, if the path does not contain them.
  package func concerns(_ record: SnapshotRecord) {
    request.context?.update { facts in
      facts.snapshot = record.id
      facts.report = record.report
    }
  }
}
