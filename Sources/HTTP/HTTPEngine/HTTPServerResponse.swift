public import HTTPTypes
public import SystemIO

/// A response. The server adds `Date`, `Content-Length` or chunked coding, and `Connection`, and omits the body for
/// `HEAD`.
public struct HTTPServerResponse: Sendable {
  /// The status.
  public var status: HTTPResponse.Status
  /// The fields.
  public var headerFields: HTTPFields
  /// Fields that are sent after ``headerFields``. Use them to add to a response that is kept for many requests: its own
  /// fields are not copied then.
  public var addedFields: [HTTPField] = []
  /// The body.
  public var body: Body

  /// The content of a response.
  public enum Body: Sendable {
    /// Nothing.
    case empty
    /// Bytes in memory.
    case bytes([UInt8])
    /// Parts in sequence, from memory and from files (sent with `sendfile`).
    case parts([Part])
    /// Pieces that are produced on demand, until the closure returns `nil`. With a `length`, in bytes, they are sent with
    /// `Content-Length`, and the connection is broken if they are longer or shorter; without one, in chunked coding.
    case stream(length: Int64? = nil, @Sendable () async throws -> [UInt8]?)
  }

  /// A part of a body with known length.
  public enum Part: Sendable {
    /// Bytes in memory.
    case bytes([UInt8])
    /// A range of an open file.
    case file(File, offset: Int64, count: Int64)
  }

  /// Creates a response from its parts.
  public init(status: HTTPResponse.Status, headerFields: HTTPFields = [:], body: Body = .empty) {
    self.status = status
    self.headerFields = headerFields
    self.body = body
  }

  /// Returns the response with the first piece of its stream already produced. Throws what producing it throws, while
  /// another response can still be sent. Returns any other response unchanged.
  public func withFirstPiece() async throws -> HTTPServerResponse {
    guard case .stream(let length, let next) = body else { return self }
    let isSent = Lock(false)
    let first = try await next()
    var response = self
    response.body = .stream(length: length) {
      isSent.exchange(true) ? try await next() : first
    }
    return response
  }
}
