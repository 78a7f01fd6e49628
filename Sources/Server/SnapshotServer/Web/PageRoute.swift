import HTTPEngine
public import HTTPTypes
import Synchronization

/// A web page, or what a form in one does: a route, and the permission that whoever has signed in needs for it.
///
/// Pages are no part of the API: they are opened by a session, answer in HTML, and change with what people like to see.
public struct PageRoute: Sendable {
  /// Answers a visitor who was admitted.
  typealias Action = @Sendable (PageCall) async throws -> HTTPServerResponse

  /// The method; a route for `GET` answers `HEAD` too.
  public let method: HTTPRequest.Method
  /// The template, as ``Route`` reads it.
  public let template: String
  /// What a visitor needs.
  public let permission: Permission
  /// What the audit log calls it: the name of the operation of the API that gives away or changes as much.
  let name: String
  let audited: Operation.Audited
  let action: Action

  init(
    _ method: HTTPRequest.Method, _ template: String, _ permission: Permission, _ name: String,
    audited: Operation.Audited = .always, _ action: @escaping Action
  ) {
    self.method = method
    self.template = template
    self.permission = permission
    self.name = name
    self.audited = audited
    self.action = action
  }
}

/// A request for a page whose visitor was admitted.
struct PageCall: Sendable {
  let routed: RoutedRequest
  let visitor: Visitor
  let progress: PageProgress

  var request: HTTPServerRequest { routed.request }
  var caller: Caller { visitor.caller }
  /// The same request as the API would have it.
  var asAPI: APIRequest { APIRequest(routed, caller: caller) }

  /// What `parameter` makes of its segment of the path.
  func value<Value>(of parameter: PathParameter<Value>) throws -> Value { try routed.value(of: parameter) }

  /// The query, whose names are all among `known`: a filter that was passed over would show too much.
  func query(_ known: [String]) throws(HTTPProblem) -> QueryParameters {
    let query = try routed.query()
    for (name, _) in query.pairs where !known.contains(name) {
      throw .badRequest("‘\(name.prefix(100))’ is no parameter of this page.")
    }
    return query
  }
}

/// How far the answer to a request for a page has come, for the page that is shown should it fail.
final class PageProgress: Sendable {
  struct State: Sendable {
    /// Who asks, once that is known.
    var visitor: Visitor?
    /// Where somebody who signs in wants to go on.
    var next: LocalPath?
  }

  private let mutex = Mutex(State())

  var state: State { mutex.withLock { $0 } }

  func update(_ change: (inout State) -> Void) { mutex.withLock { change(&$0) } }
}
