public import HTTPTransport
public import HTTPTypes

/// When a request is made again, and how long is waited before.
///
/// Repeated is what can't do anything twice (RFC 9110 §9.2.2), such as `GET`, `PUT` and `DELETE`, after a broken
/// connection, a passed deadline or one of ``retriedStatuses``; any other method only where no connection was made.
public struct RetryPolicy: Sendable, Hashable {
  /// How often a request is made in all, at least once. A download that got further starts to count anew.
  public var attempts = 4
  /// The longest wait before the second attempt, in seconds; each further one waits up to twice as long.
  public var base: Double = 0.25
  /// The longest wait of the client's own choice, in seconds.
  public var cap: Double = 20
  /// The longest wait that a server may ask for by `Retry-After`, in seconds. A request that would have to wait
  /// longer fails at once, and the error says how long.
  public var retryAfterCap: Double = 120

  /// Statuses that say «not now»: the request timed out (408), came too early (425) or too often (429), the
  /// server is overloaded or in maintenance (503), or the proxy before it did not reach it (502, 504). 500 is none
  /// of them: nothing says that it would pass.
  public static let retriedStatuses: Set<Int> = [408, 425, 429, 502, 503, 504]

  /// The defaults above.
  public init() {}

  /// How long to wait after attempt number `attempt`, the first being 1, in seconds; `random` is in 0..<1. Full
  /// jitter: anything from nothing to the backed-off limit, on top of what the server asks for.
  /// - Returns: `nil` where the server asks for longer than ``retryAfterCap``.
  public func delay(afterAttempt attempt: Int, retryAfter: Double?, random: Double) -> Double? {
    if let retryAfter, retryAfter > retryAfterCap { return nil }
    let doublings = Double(max(0, min(attempt - 1, 60)))
    var limit = base
    for _ in 0..<Int(doublings) where limit < cap { limit *= 2 }
    return (retryAfter ?? 0) + random * min(limit, cap)
  }

  /// Whether a request with `method` may be made again after `error`.
  public func allowsRepeating(_ method: HTTPRequest.Method, after error: TransportError) -> Bool {
    switch error {
    case .connectionFailed: true
    case .timedOut, .interrupted: method.isIdempotent
    case .invalidRequest, .unexpectedRange, .responseTooLarge, .file, .cancelled: false
    }
  }

  /// Whether a request with `method` may be made again after an answer with `status`.
  public func allowsRepeating(_ method: HTTPRequest.Method, after status: HTTPResponse.Status) -> Bool {
    Self.retriedStatuses.contains(status.code) && method.isIdempotent
  }
}
