public import HTTPEngine

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
