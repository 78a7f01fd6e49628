/// What answers requests.
public protocol HTTPHandler: Sendable {
  /// Answers one request. Runs on the event loop of the request's connection, so it never blocks: files, hashing
  /// and databases are awaited elsewhere. A thrown ``HTTPProblem`` becomes its problem+json; anything else is
  /// logged and becomes a bare 500 with the request's id.
  func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse

  /// Answers one request at once, or says how it will be answered: this is what the server asks. Runs where
  /// ``respond(to:)`` does, and what it throws is answered alike. A handler that doesn't have it answers each request by
  /// ``respond(to:)``, in a task.
  func answer(to request: HTTPServerRequest) throws -> HTTPAnswer
}

extension HTTPHandler {
  /// Leaves the request to ``respond(to:)``.
  public func answer(to request: HTTPServerRequest) throws -> HTTPAnswer {
    .later { try await respond(to: request) }
  }
}

/// How a request is answered.
public enum HTTPAnswer: Sendable {
  /// At once. A task costs about as much as all else that a small response needs, so what lies in memory, or in a file
  /// that is open, is best answered so.
  case now(HTTPServerResponse)
  /// By a task, which may wait; it runs on the event loop of the request's connection.
  case later(@Sendable () async throws -> HTTPServerResponse)

  /// The response, once it is there.
  public var response: HTTPServerResponse {
    get async throws {
      switch self {
      case .now(let response): response
      case .later(let respond): try await respond()
      }
    }
  }
}
