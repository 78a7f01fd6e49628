public import HTTPTypes

/// A method, a path template, and the action that responds to matching requests.
///
/// Each segment of a template is literal text, or a parameter in braces with an optional literal suffix:
/// `/v1/snapshots/{id}.zip`. A parameter matches one whole segment of the path, with at least one character besides the
/// suffix; a `%2F` inside the segment is data. The last segment of a template can match all remaining segments, at
/// least one: `/static/{path...}`. They are in ``RoutedRequest/remainder``.
public struct Route: Sendable {
  /// Responds to a request whose path matches.
  public typealias Action = @Sendable (RoutedRequest) async throws -> HTTPServerResponse

  /// The method. A route for `GET` also responds to `HEAD`.
  public let method: HTTPRequest.Method
  /// The template as written.
  public let template: String
  let action: Action

  /// Creates a route for `method` and `template`.
  public init(_ method: HTTPRequest.Method, _ template: String, _ action: @escaping Action) {
    self.method = method
    self.template = template
    self.action = action
  }
}

/// A request with the values of its route's parameters.
public struct RoutedRequest: Sendable {
  /// The request.
  public let request: HTTPServerRequest
  /// The template that the path matches.
  public let template: String
  let values: [(name: String, value: String)]
  /// The segments matched by `{name...}`, each decoded separately; empty for other templates. A slash in a segment was
  /// sent encoded and does not separate two names.
  public let remainder: [String]

  /// Returns the value that `parameter` parses from its segment of the path.
  public func value<Value>(of parameter: PathParameter<Value>) throws -> Value {
    guard let text = text(of: parameter) else {
      throw PathParameterMissing(name: parameter.name, template: template)
    }
    return try parameter.parse(text)
  }

  /// Returns the value that `parameter` parses, or `nil` if the template does not have it or its text is malformed.
  package func valueIfValid<Value>(of parameter: PathParameter<Value>) -> Value? {
    guard let text = text(of: parameter) else { return nil }
    do { return try parameter.parse(text) } catch { return nil }
  }

  private func text<Value>(of parameter: PathParameter<Value>) -> String? {
    values.first { $0.name == parameter.name }?.value
  }

  /// Returns the decoded query. Throws ``HTTPProblem`` if it is malformed.
  public func query() throws(HTTPProblem) -> QueryParameters { try QueryParameters(request.query) }
}

/// A parameter of path templates: its name and the type of its value.
public struct PathParameter<Value>: Sendable {
  /// The name, without the braces.
  public let name: String
  let parse: @Sendable (String) throws -> Value

  /// Creates a parameter. `parse` converts the decoded text to a value; an error that it throws becomes the response.
  public init(_ name: String, parse: @escaping @Sendable (String) throws -> Value) {
    self.name = name
    self.parse = parse
  }
}

/// A route read a parameter that its template does not have.
struct PathParameterMissing: Error {
  let name: String
  let template: String
}
