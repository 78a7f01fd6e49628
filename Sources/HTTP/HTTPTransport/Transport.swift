public import Foundation
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

/// What a request carries.
public enum TransportBody: Sendable {
  /// Nothing; `POST`, `PUT` and `PATCH` say so with `Content-Length: 0`.
  case none
  /// Bytes in memory.
  case bytes(Data)
  /// The contents of a regular file, with its length at the start declared. A link is followed.
  case file(URL)
  /// That range of a regular file's bytes, which the file has. A link is followed. A transport that can't send from a
  /// file's midst holds the range in memory.
  case part(of: URL, Range<Int64>)
}

/// Where a response's body goes.
public enum TransportDestination: Sendable {
  /// Into memory, at most `limit` bytes.
  case memory(limit: Int)
  /// Into a file, made with mode 0600 where there is none, when the status is 200 (then from the start, cutting
  /// what was there) or 206 with a `Content-Range` that starts at `offset` (then from `offset` on). The file may
  /// be at most `limit` bytes long. Other statuses leave it alone: their bodies go into memory, cut after
  /// ``TransportLimits/problemBytes``.
  ///
  /// What arrived before a failure stays in the file.
  case file(URL, offset: Int64, limit: Int64 = .max)
}

/// What came back.
public struct TransportResponse: Sendable {
  /// Status and fields.
  public var head: HTTPResponse
  /// The body, as far as it went into memory.
  public var body: Data

  /// A response by its parts.
  public init(head: HTTPResponse, body: Data) {
    self.head = head
    self.body = body
  }
}

/// What happens while a request is under way.
public enum TransportEvent: Sendable {
  /// An informational response (1xx) came, the final one is still to come; where the transport can tell.
  case informational(HTTPResponse)
  /// The head of the final response is here, its destination is ready, and no byte of the body was taken yet.
  case response(HTTPResponse)
  /// Bytes moved; at most some ten times a second, and once more at the end.
  case progress(TransportProgress)
}

/// How far a transfer is. Never goes back.
///
/// Where the response goes to a file this is about the file: a download that goes on at an offset starts there.
/// Else it is about the request's body.
public struct TransportProgress: Sendable, Hashable {
  /// Bytes moved.
  public var completed: Int64
  /// Bytes in all, where known.
  public var total: Int64?

  /// A state of a transfer.
  public init(completed: Int64, total: Int64?) {
    self.completed = completed
    self.total = total
  }
}

/// How long to wait, in seconds.
public struct TransportTimeouts: Sendable, Hashable {
  /// Until the connection stands; more than 0.
  public var connect: Double = 15
  /// Without a byte in either direction, once the connection stands; more than 0.
  public var idle: Double = 60
  /// For all of it; `nil` for no limit.
  public var total: Double?

  /// The defaults above.
  public init() {}
}

/// What a response may be at most, wherever it goes.
package enum TransportLimits {
  /// The bytes of a response's status line and fields.
  package static let headBytes = 256 * 1024
  /// How much of a body is kept that was meant for a file, but came with another status than 200 and 206.
  package static let problemBytes = 64 * 1024
  /// How long such a body may be before the transfer is given up.
  package static let discardedBytes = 1024 * 1024
}
