public import HTTPTypes

/// Sends one request, and gives one response.
///
/// Implementations
/// - stream bodies from and to files in constant memory;
/// - follow no redirect: a response with status 3xx is given as it came;
/// - ask for no content coding and undo none, so that bytes, ranges and digests are those of the server's file;
/// - keep no cookies, no cache and no credentials;
/// - frame the message themselves: `Content-Length`, `Transfer-Encoding`, `Connection`, `Upgrade`, `TE`,
///   `Trailer`, `Expect` and `Host` are refused among the request's fields;
/// - never repeat a request whose method is not idempotent (RFC 9110 §9.2.2) once bytes of it were sent, unless it says
///   by `Upload-Offset` where they belong, so that the server takes them once;
/// - end at once with ``TransportError/cancelled`` when the task is cancelled.
///
/// One transport may send any number of requests at the same time, from any thread.
public protocol Transport: Sendable {
  /// Sends `request`, whose scheme is `http` or `https` and whose authority and path are set.
  /// - Parameters:
  ///   - body: what to send.
  ///   - destination: where the response's body goes.
  ///   - timeouts: how long to wait for what.
  ///   - events: told what happens meanwhile, on any thread and in order; to return quickly.
  /// - Returns: the final response; of informational ones (1xx) only `events` is told.
  func send(
    _ request: HTTPRequest, body: TransportBody, destination: TransportDestination,
    timeouts: TransportTimeouts,
    events: (@Sendable (TransportEvent) -> Void)?
  ) async throws(TransportError) -> TransportResponse
}
