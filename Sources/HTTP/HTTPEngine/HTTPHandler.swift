/// What answers requests.
public protocol HTTPHandler: Sendable {
  /// Answers one request. Runs on the event loop of the request's connection, so it never blocks: files, hashing
  /// and databases are awaited elsewhere. A thrown ``HTTPProblem`` becomes its problem+json; anything else is
  /// logged and becomes a bare 500 with the request's id.
  func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse
}
