public import HTTPTypes

/// A method, a template of paths, and what answers them.
///
/// A template's segments are literal text, or a parameter in braces with an optional literal suffix:
/// `/v1/snapshots/{id}.zip`. A parameter takes one whole segment of the path, at least one character besides the
/// suffix; a `%2F` inside of it is data. The last segment may stand for all further ones, at least one, which are
/// ``RoutedRequest/remainder`` then: `/static/{path...}`.
public struct Route: Sendable {
  /// Answers a request whose path fits.
  public typealias Action = @Sendable (RoutedRequest) async throws -> HTTPServerResponse

  /// The method; a route for `GET` answers `HEAD` too.
  public let method: HTTPRequest.Method
  /// The template, as it was written.
  public let template: String
  let action: Action

  /// Answers `method` under `template`.
  public init(_ method: HTTPRequest.Method, _ template: String, _ action: @escaping Action) {
    self.method = method
    self.template = template
    self.action = action
  }
}

/// A request with what its route took from the path.
public struct RoutedRequest: Sendable {
  /// The request.
  public let request: HTTPServerRequest
  /// The template that the path fits.
  public let template: String
  let values: [(name: String, value: String)]
  /// The segments that `{name...}` stands for, each decoded by itself; empty for a template without it. One that
  /// holds a slash came with it encoded, and is no two names.
  public let remainder: [String]

  /// What `parameter` makes of its segment of the path.
  public func value<Value>(of parameter: PathParameter<Value>) throws -> Value {
    guard let text = values.first(where: { $0.name == parameter.name })?.value else {
      throw PathParameterMissing(name: parameter.name, template: template)
    }
    return try parameter.parse(text)
  }

  /// The query, decoded; throws an ``HTTPProblem`` where it is malformed.
  public func query() throws(HTTPProblem) -> QueryParameters { try QueryParameters(request.query) }
}

/// A parameter of templates: its name, and the type that it stands for.
public struct PathParameter<Value>: Sendable {
  /// The name, without the braces.
  public let name: String
  let parse: @Sendable (String) throws -> Value

  /// A parameter whose decoded text `parse` turns into a value; what it throws is the answer.
  public init(_ name: String, parse: @escaping @Sendable (String) throws -> Value) {
    self.name = name
    self.parse = parse
  }
}

/// A route asked for a parameter that its template lacks.
struct PathParameterMissing: Error {
  let name: String
  let template: String
}
