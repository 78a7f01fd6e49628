public import HTTPTypes
public import SystemIO

/// One answer. The server adds `Date`, `Content-Length` or chunked coding, and `Connection`, and leaves the body
/// out for `HEAD`.
public struct HTTPServerResponse: Sendable {
  /// The status.
  public var status: HTTPResponse.Status
  /// The fields.
  public var headerFields: HTTPFields
  /// The body.
  public var body: Body

  /// What follows the head.
  public enum Body: Sendable {
    /// Nothing.
    case empty
    /// Bytes in memory.
    case bytes([UInt8])
    /// Parts one after the other, from memory and from files (by `sendfile`).
    case parts([Part])
    /// Pieces as they are made, in chunked coding, until `nil`.
    case stream(@Sendable () async throws -> [UInt8]?)
  }

  /// One piece of a body whose length is known.
  public enum Part: Sendable {
    /// Bytes in memory.
    case bytes([UInt8])
    /// A range of an open file.
    case file(File, offset: Int64, count: Int64)
  }

  /// An answer by its parts.
  public init(status: HTTPResponse.Status, headerFields: HTTPFields = [:], body: Body = .empty) {
    self.status = status
    self.headerFields = headerFields
    self.body = body
  }
}
