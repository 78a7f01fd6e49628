public import HTTPTypes
public import SystemIO

/// The body of a request, as a sequence of pieces. It can be iterated once.
///
/// If the client sent `Expect: 100-continue`, requesting the first piece sends `100 Continue`. The server reads from
/// the client only as fast as pieces are requested: this is the back-pressure. If the body is truncated, too slow or
/// too large, iteration throws ``HTTPBodyError``. If the handler does not catch the error, the server sends the
/// corresponding status.
///
/// In a cancelled task, iteration never waits: it returns the pieces already received, then throws `CancellationError`.
public struct HTTPRequestBody: AsyncSequence, Sendable {
  /// A piece of the body, which is never empty.
  public typealias Element = IOBuffer

  /// The length that the head declares; `nil` for a chunked body.
  public let declaredLength: Int64?

  /// An empty body.
  public static let empty = HTTPRequestBody(declaredLength: 0) { nil }

  private let next: @Sendable () async throws -> IOBuffer?
  private let receivedTrailers: @Sendable () -> HTTPFields

  /// Creates a body from `next`, which returns the pieces and then `nil`. After that, `trailers` returns the trailer
  /// fields.
  public init(
    declaredLength: Int64?, trailers: @escaping @Sendable () -> HTTPFields = { [:] },
    next: @escaping @Sendable () async throws -> IOBuffer?
  ) {
    self.declaredLength = declaredLength
    self.next = next
    receivedTrailers = trailers
  }

  /// The trailer fields of a chunked body. Empty until the end of the body was read.
  ///
  /// They are never merged into the head. Fields that have no meaning in trailers, or must be known before the body,
  /// are dropped: those for framing, routing, authorization and the content's description (RFC 9110 §6.5.1). The head's
  /// field `Trailer` can announce them.
  public var trailers: HTTPFields { receivedTrailers() }

  /// Returns an iterator over the pieces.
  public func makeAsyncIterator() -> Iterator { Iterator(next: next) }

  /// An iterator over the pieces.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let next: @Sendable () async throws -> IOBuffer?

    /// Returns the next piece, which is never empty, or `nil` at the end.
    public mutating func next() async throws -> IOBuffer? { try await next() }
  }

  /// Returns the same body with a lower limit, in bytes. A larger body throws ``HTTPBodyError/tooLarge(limit:)``; if
  /// the head declares the length, it does so before any byte is read and before `100 Continue`. The server's own limit
  /// still applies.
  public func limited(to limit: Int64) -> HTTPRequestBody {
    if let declaredLength {
      guard declaredLength > limit else { return self }
      return HTTPRequestBody(declaredLength: declaredLength) { throw HTTPBodyError.tooLarge(limit: limit) }
    }
    let counter = Counter()
    return HTTPRequestBody(declaredLength: nil, trailers: receivedTrailers) { [next] in
      guard let piece = try await next() else { return nil }
      guard counter.add(Int64(piece.count)) <= limit else { throw HTTPBodyError.tooLarge(limit: limit) }
      return piece
    }
  }

  /// Returns the whole body. Throws ``HTTPBodyError/tooLarge(limit:)`` if it has more than `limit` bytes.
  public func collect(upTo limit: Int64) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    for try await piece in limited(to: limit) {
      piece.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }
    return bytes
  }

  private final class Counter: Sendable {
    private let count = Lock<Int64>(0)

    func add(_ more: Int64) -> Int64 { count.add(more) }
  }
}

/// The reason why a body could not be read to its end.
public enum HTTPBodyError: Error, Sendable, Hashable {
  /// The client disconnected, or the exchange is over.
  case disconnected
  /// The client was slower than the server's limits allow.
  case tooSlow
  /// The body is larger than the server's limit, in bytes.
  case tooLarge(limit: Int64)
  /// The chunked coding is malformed.
  case malformed
}
