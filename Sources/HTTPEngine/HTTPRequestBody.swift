public import SystemIO

/// A request's body, piece by piece; iterated once.
///
/// Asking for the first piece is what answers `Expect: 100-continue`. Pieces that nobody asks for stay with the
/// sender: that is the back-pressure. A body that breaks off, comes too slowly or grows past the server's limit
/// throws ``HTTPBodyError``.
public struct HTTPRequestBody: AsyncSequence, Sendable {
  public typealias Element = IOBuffer

  /// What the head says of the length; `nil` for a chunked body.
  public let declaredLength: Int64?

  /// No body.
  public static let empty = HTTPRequestBody(declaredLength: 0) { nil }

  private let next: @Sendable () async throws -> IOBuffer?

  /// A body whose pieces `next` gives until it gives `nil`.
  public init(declaredLength: Int64?, next: @escaping @Sendable () async throws -> IOBuffer?) {
    self.declaredLength = declaredLength
    self.next = next
  }

  /// Iterates over the pieces.
  public func makeAsyncIterator() -> Iterator { Iterator(next: next) }

  /// Iterates over the pieces.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let next: @Sendable () async throws -> IOBuffer?

    /// The next piece, never an empty one; `nil` at the end.
    public mutating func next() async throws -> IOBuffer? { try await next() }
  }
}

/// Why a body ended before its end.
public enum HTTPBodyError: Error, Sendable, Hashable {
  /// The client went away.
  case disconnected
  /// The client was slower than the server's limits allow.
  case tooSlow
  /// The body is larger than the server's limit, in bytes.
  case tooLarge(limit: Int64)
  /// The chunked coding is broken.
  case malformed
}
