public import Foundation
public import HTTPTypes

/// Sends one request, and gives one response.
///
/// Implementations stream bodies from and to files in constant memory, never follow a redirect to another host
/// with credentials, refuse field values with CR, LF or NUL, and stop at once when the task is cancelled.
public protocol Transport: Sendable {
  /// Sends `request`.
  /// - Parameters:
  ///   - body: what to send.
  ///   - destination: where the response's body goes.
  ///   - timeouts: how long to wait for what.
  ///   - progress: told bytes moved so far (of the response if it goes to a file, else of the request); called on
  ///     any thread, at most some ten times a second.
  func send(
    _ request: HTTPRequest, body: TransportBody, destination: TransportDestination, timeouts: TransportTimeouts,
    progress: (@Sendable (TransportProgress) -> Void)?
  ) async throws(TransportError) -> TransportResponse
}

/// What a request carries.
public enum TransportBody: Sendable {
  case none
  case bytes(Data)
  /// The file's contents, with its length declared.
  case file(URL)
}

/// Where a response's body goes.
public enum TransportDestination: Sendable {
  /// Into memory, at most `limit` bytes.
  case memory(limit: Int)
  /// To the end of a file from `offset` on, when the status is 200 (then from 0, cutting what was there) or 206
  /// (then from `offset`); other statuses' bodies go into memory, at most 64 KiB of them.
  case file(URL, offset: Int64)
}

/// How long to wait, in seconds.
public struct TransportTimeouts: Sendable, Hashable {
  /// Until the connection stands.
  public var connect: Double = 15
  /// Without a byte in either direction.
  public var idle: Double = 60
  /// For all of it; `nil` for no limit.
  public var total: Double?

  /// The defaults above.
  public init() {}
}

/// How far a transfer is.
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

/// Why there is no response.
public enum TransportError: Error, Sendable {
  /// The request can't be sent as it is: what is wrong with it.
  case invalidRequest(String)
  /// No connection: name not found, refused, unreachable, TLS failed. Nothing was sent.
  case connectionFailed(String)
  /// A deadline passed.
  case timedOut
  /// The connection broke, or the answer was no HTTP, after sending had begun.
  case interrupted(String)
  /// The response is larger than its destination takes.
  case responseTooLarge(limit: Int)
  /// The file to read or write failed.
  case file(String)
  /// The task was cancelled.
  case cancelled
}
