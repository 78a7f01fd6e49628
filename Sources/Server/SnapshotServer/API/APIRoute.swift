public import HTTPEngine
public import HTTPTypes

/// A call of the API: a route, and the permission that it needs. None can be written without one.
public struct APIRoute: Sendable {
  /// Answers a call whose caller was admitted.
  public typealias Action = @Sendable (APIRequest) async throws -> HTTPServerResponse

  /// The method; a route for `GET` answers `HEAD` too.
  public let method: HTTPRequest.Method
  /// The template, as ``Route`` reads it.
  public let template: String
  /// What a caller needs.
  public let permission: Permission
  let action: Action

  /// Answers `method` under `template` for callers that have `permission`.
  public init(
    _ method: HTTPRequest.Method, _ template: String, _ permission: Permission, _ action: @escaping Action
  ) {
    self.method = method
    self.template = template
    self.permission = permission
    self.action = action
  }

  /// Answers whom `access` admits, while `observed` looks on.
  func answer(_ access: AccessControl, _ observed: ObservedCall) -> Route.Action {
    { routed in
      try await observed.perform(routed) {
        let caller = try await access.admit(routed, permission)
        routed.request.record(caller)
        var response = try await action(APIRequest(routed, caller: caller))
        for field in caller.answerFields { response.headerFields[field.name] = field.value }
        return response
      }
    }
  }
}

/// A call whose caller was admitted.
public struct APIRequest: Sendable {
  /// The request, and what its route took from the path.
  public let routed: RoutedRequest
  /// Who makes the call.
  public let caller: Caller

  /// A call of `caller`.
  public init(_ routed: RoutedRequest, caller: Caller) {
    self.routed = routed
    self.caller = caller
  }

  /// The request.
  public var request: HTTPServerRequest { routed.request }
  /// The template that the path fits.
  public var template: String { routed.template }
  /// The segments that `{name...}` stands for, each decoded by itself.
  public var remainder: [String] { routed.remainder }

  /// What `parameter` makes of its segment of the path.
  public func value<Value>(of parameter: PathParameter<Value>) throws -> Value {
    try routed.value(of: parameter)
  }

  /// The query, decoded; throws an ``HTTPProblem`` where it is malformed.
  public func query() throws(HTTPProblem) -> QueryParameters { try routed.query() }
}
