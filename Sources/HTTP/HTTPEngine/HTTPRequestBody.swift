public import HTTPTypes
import Synchronization
public import SystemIO

/// A request's body, piece by piece; iterated once.
///
/// Asking for the first piece is what answers `Expect: 100-continue`. Pieces that nobody asks for stay with the
/// sender: that is the back-pressure. A body that breaks off, comes too slowly or grows past the server's limit
/// throws ``HTTPBodyError``; let it through, and the server answers with the status that fits.
///
/// A reader whose task is cancelled never waits: it gets what has come, piece by piece, and a `CancellationError` where
/// there is no more.
public struct HTTPRequestBody: AsyncSequence, Sendable {
  /// A piece: never an empty one.
  public typealias Element = IOBuffer

  /// What the head says of the length; `nil` for a chunked body.
  public let declaredLength: Int64?

  /// No body.
  public static let empty = HTTPRequestBody(declaredLength: 0) { nil }

  private let next: @Sendable () async throws -> IOBuffer?
  private let receivedTrailers: @Sendable () -> HTTPFields

  /// A body whose pieces `next` gives until it gives `nil`, from when on `trailers` tells what came behind them.
  public init(
    declaredLength: Int64?, trailers: @escaping @Sendable () -> HTTPFields = { [:] },
    next: @escaping @Sendable () async throws -> IOBuffer?
  ) {
    self.declaredLength = declaredLength
    self.next = next
    receivedTrailers = trailers
  }

  /// The fields that came behind a chunked body, once its end was read; before that, none.
  ///
  /// They are never merged into the head, and those that mean nothing there, or would have to be known before the body,
  /// are left out: what frames, routes, authorizes or describes it (RFC 9110 §6.5.1). Which ones will come the field
  /// `Trailer` of the head may tell.
  public var trailers: HTTPFields { receivedTrailers() }

  /// Iterates over the pieces.
  public func makeAsyncIterator() -> Iterator { Iterator(next: next) }

  /// Iterates over the pieces.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let next: @Sendable () async throws -> IOBuffer?

    /// The next piece, never an empty one; `nil` at the end.
    public mutating func next() async throws -> IOBuffer? { try await next() }
  }

  /// The same body under a lower limit: one byte more throws ``HTTPBodyError/tooLarge(limit:)``, before anything is
  /// read (and before `100 Continue`) where the head tells the length. The server's own limit stays in force.
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

  /// All of a body of at most `limit` bytes.
  public func collect(upTo limit: Int64) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    for try await piece in limited(to: limit) {
      piece.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }
    return bytes
  }

  private final class Counter: Sendable {
    private let count = Atomic<Int64>(0)

    func add(_ more: Int64) -> Int64 { count.add(more, ordering: .relaxed).newValue }
  }
}
