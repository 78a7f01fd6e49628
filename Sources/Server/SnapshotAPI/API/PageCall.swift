package import AccessControl
package import HTTPEngine
package import SnapshotFormat
import Observability
import SystemIO

/// A request for a page, with an admitted visitor.
package struct PageCall: Sendable {
  package let routed: RoutedRequest
  package let visitor: Visitor
  package let progress: PageProgress

  package var request: HTTPServerRequest { routed.request }
  package var caller: Caller { visitor.caller }
  /// The same request as a call of the API.
  package var asAPI: APIRequest { APIRequest(routed, caller: caller) }

  /// Returns the value that `parameter` parses from its segment of the path.
  package func value<Value>(of parameter: PathParameter<Value>) throws -> Value {
    try routed.value(of: parameter)
  }

  /// Returns the parameters of the query with the names in `known`. Others are ignored: mail programs and chats add
  /// their own, such as `utm_source`.
  package func query(_ known: [String]) throws(HTTPProblem) -> QueryParameters {
    QueryParameters(try routed.query().pairs.filter { known.contains($0.name) })
  }

  /// Records the snapshot with which the request compares another, for the audit log.
  package func compares(with other: SnapshotID) {
    request.context?.update { $0.comparedWith = other }
  }
}

/// The progress of a request for a page, which is used to render its problem page.
package final class PageProgress: Sendable {
  package struct State: Sendable {
    /// The visitor, once known.
    package var visitor: Visitor?
    /// The path to open after signing in.
    package var next: LocalPath?
  }

  /// The progress of the current request.
  @TaskLocal package static var current: PageProgress?

  private let mutex = Lock(State())

  package init() {}

  package var state: State { mutex.withLock { $0 } }

  package func update(_ change: (inout State) -> Void) { mutex.withLock { change(&$0) } }
}
