package import AccessControl
package import HTTPEngine
package import SnapshotFormat
import Observability
import Synchronization

/// A request for a page whose visitor was admitted.
package struct PageCall: Sendable {
  package let routed: RoutedRequest
  package let visitor: Visitor
  package let progress: PageProgress

  package var request: HTTPServerRequest { routed.request }
  package var caller: Caller { visitor.caller }
  /// The same request as the API would have it.
  package var asAPI: APIRequest { APIRequest(routed, caller: caller) }

  /// What `parameter` makes of its segment of the path.
  package func value<Value>(of parameter: PathParameter<Value>) throws -> Value {
    try routed.value(of: parameter)
  }

  /// The query, whose names are all among `known`: a filter that was passed over would show too much.
  package func query(_ known: [String]) throws(HTTPProblem) -> QueryParameters {
    let query = try routed.query()
    for (name, _) in query.pairs where !known.contains(name) {
      throw .badRequest("‘\(name.prefix(100))’ is no parameter of this page.")
    }
    return query
  }

  /// Tells whoever accounts for the request which other snapshot it is about.
  package func compares(with other: SnapshotID) {
    request.context?.update { $0.comparedWith = other }
  }
}

/// How far the answer to a request for a page has come, for the page that is shown should it fail.
package final class PageProgress: Sendable {
  package struct State: Sendable {
    /// Who asks, once that is known.
    package var visitor: Visitor?
    /// Where somebody who signs in wants to go on.
    package var next: LocalPath?
  }

  /// That of the request that is being answered.
  @TaskLocal package static var current: PageProgress?

  private let mutex = Mutex(State())

  package init() {}

  package var state: State { mutex.withLock { $0 } }

  package func update(_ change: (inout State) -> Void) { mutex.withLock { change(&$0) } }
}
