public import Foundation
public import HTTPTypes
package import SystemIO

/// Sends a request and returns its response.
///
/// Implementations must:
/// - stream bodies from and to files in constant memory;
/// - follow no redirects: return a response with status 3xx as received;
/// - request no content coding and decode none, so that bytes, ranges and digests are those of the server's file;
/// - store no cookies, cache or credentials;
/// - frame messages themselves: reject `Content-Length`, `Transfer-Encoding`, `Connection`, `Upgrade`, `TE`, `Trailer`,
///   `Expect` and `Host` among the request's fields;
/// - never repeat a request whose method is not idempotent (RFC 9110 §9.2.2) after some of its bytes were sent, unless
///   its `Upload-Offset` lets the server detect repeated bytes;
/// - throw ``TransportError/cancelled`` immediately when the task is cancelled.
///
/// A transport is thread-safe and can send any number of requests concurrently.
public protocol Transport: Sendable {
  /// Sends `request`, whose scheme must be `http` or `https` and whose authority and path must be set.
  ///
  /// - Parameters:
  ///   - body: the content to send.
  ///   - destination: where to store the response's body.
  ///   - timeouts: the time limits of the exchange.
  ///   - events: called with the events of the exchange, in order, on any thread. It must return quickly.
  /// - Returns: the final response. Informational responses (1xx) are reported only to `events`.
  func send(
    _ request: HTTPRequest, body: TransportBody, destination: TransportDestination,
    timeouts: TransportTimeouts,
    events: (@Sendable (TransportEvent) -> Void)?
  ) async throws(TransportError) -> TransportResponse
}

/// The content of a request.
public enum TransportBody: Sendable {
  /// No content. `POST`, `PUT` and `PATCH` send `Content-Length: 0`.
  case none
  /// Bytes in memory.
  case bytes(Data)
  /// The contents of a regular file. `Content-Length` is the file's size when the request starts. Symbolic links are
  /// followed.
  case file(URL)
  /// A range of bytes of a regular file. The file must have these bytes. Symbolic links are followed. A transport that
  /// can't send a part of a file reads the range into memory.
  case part(of: URL, Range<Int64>)
}

/// Where to store a response's body.
public enum TransportDestination: Sendable {
  /// In memory, at most `limit` bytes.
  case memory(limit: Int)
  /// In a file, which is created with mode 0600 if it does not exist. With status 200 the body replaces the file's
  /// contents. With status 206 and a `Content-Range` that starts at `offset`, the body replaces everything after
  /// `offset`. The file can have at most `limit` bytes. Other statuses do not change the file: their bodies are kept in
  /// memory, truncated to ``TransportLimits/problemBytes``.
  ///
  /// If the transfer fails, the file keeps the bytes received until then.
  case file(URL, offset: Int64, limit: Int64 = .max)
}

/// The response to a request.
public struct TransportResponse: Sendable {
  /// Status and fields.
  public var head: HTTPResponse
  /// The part of the body that was kept in memory.
  public var body: Data

  /// Creates a response from its parts.
  public init(head: HTTPResponse, body: Data) {
    self.head = head
    self.body = body
  }
}

/// An event during an exchange.
public enum TransportEvent: Sendable {
  /// An informational response (1xx) was received; the final one follows. Some transports can't report these.
  case informational(HTTPResponse)
  /// The head of the final response was received and its destination is ready. No byte of the body was processed yet.
  case response(HTTPResponse)
  /// Bytes were transferred. Reported about ten times a second at most, and once more at the end.
  case progress(TransportProgress)
}

/// The progress of a transfer. It never decreases.
///
/// If the response goes to a file, progress describes this file, and a download that continues at an offset starts
/// there. Otherwise progress describes the request's body.
public struct TransportProgress: Sendable, Hashable {
  /// The number of bytes transferred.
  public var completed: Int64
  /// The total number of bytes, if known.
  public var total: Int64?

  /// Creates a state of progress from its parts.
  public init(completed: Int64, total: Int64?) {
    self.completed = completed
    self.total = total
  }
}

/// The time limits of an exchange, in seconds.
public struct TransportTimeouts: Sendable, Hashable {
  /// The maximum time until the connection is established; more than 0.
  public var connect: Double = 15
  /// The maximum time without a byte in either direction on an established connection; more than 0.
  public var idle: Double = 60
  /// The maximum time for the whole exchange; `nil` for no limit.
  public var total: Double?
  /// The minimum rate of a response's body, in bytes per second, averaged over ``bodyWindow``; 0 for no minimum.
  public var bodyBytesPerSecond: Double = 1024
  /// The period over which the body's rate is averaged; more than 0.
  public var bodyWindow: Double = 30

  /// Creates timeouts with the default values.
  public init() {}
}

/// Limits for every response, independent of its destination.
package enum TransportLimits {
  /// The maximum size of a response's status line and fields, in bytes.
  package static let headBytes = 256 * 1024
  /// How many bytes of a body are kept if it was meant for a file but its status is neither 200 nor 206.
  package static let problemBytes = 64 * 1024
  /// The maximum size of such a body, in bytes. The transfer of a longer one fails.
  package static let discardedBytes = 1024 * 1024
}

/// The reason why there is no response. The texts are for people and contain no field of the request.
public enum TransportError: Error, Sendable, Hashable {
  /// The request is invalid, for the stated reason. Nothing was sent.
  case invalidRequest(String)
  /// The connection failed: name not found, refused, unreachable, TLS error, or timeout. Nothing was sent.
  case connectionFailed(String)
  /// The server's certificate is not the one that is trusted. Nothing was sent.
  case untrusted(String)
  /// A time limit other than the one for connecting was exceeded.
  case timedOut
  /// The connection broke, or the response was not valid HTTP, after sending had started.
  case interrupted(String)
  /// A response with status 206 has another range than the requested one. The destination was not changed.
  case unexpectedRange
  /// The response is larger than the destination's limit.
  case responseTooLarge(limit: Int64)
  /// Reading or writing the file failed.
  case file(String)
  /// The task was cancelled.
  case cancelled
}

/// Sends a request to an address that was checked.
package protocol AddressedTransport: Sendable {
  /// Sends `request` as ``Transport`` specifies, to `address`, whatever addresses its host has. Uses no proxy.
  func send(
    _ request: HTTPRequest, body: TransportBody, to address: SocketAddress, destination: TransportDestination,
    timeouts: TransportTimeouts, events: (@Sendable (TransportEvent) -> Void)?
  ) async throws(TransportError) -> TransportResponse
}

/// The transport of this system: libcurl on Linux, `URLSession` on Apple's platforms.
#if canImport(CCurl)
  package typealias SystemTransport = CurlTransport
#else
  package typealias SystemTransport = URLSessionTransport
#endif
