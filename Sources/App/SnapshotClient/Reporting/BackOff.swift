/// The delay before a failed upload is retried.
public struct BackOff: Sendable, Hashable {
  /// The delay after the first failure, in seconds. It doubles with each further failure.
  public var base: Double = 5
  /// The maximum delay in seconds, unless the server asks for more.
  public var cap: Double = 60 * 60
  /// The maximum delay that a server can request by `Retry-After`, in seconds.
  public var retryAfterCap: Double = 24 * 60 * 60

  /// Creates a back-off with the default values.
  public init() {}

  /// The delay after failure number `failure`, starting at 1, in seconds; `random` is in 0..<1.
  ///
  /// The delay is half of the exponential delay plus a random part of the other half, so that many devices do not retry
  /// at the same time. It is added to the delay that the server requests.
  public func delay(afterFailure failure: Int, retryAfter: Double?, random: Double) -> Double {
    var limit = base
    for _ in 0..<max(0, min(failure, 64) - 1) where limit < cap { limit *= 2 }
    limit = min(limit, cap)
    return min(max(0, retryAfter ?? 0), retryAfterCap) + limit / 2 + random * limit / 2
  }

  /// The maximum possible delay in seconds.
  var longest: Double { retryAfterCap + cap }
}
