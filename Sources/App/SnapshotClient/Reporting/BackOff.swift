/// How long an upload waits after it failed.
public struct BackOff: Sendable, Hashable {
  /// The wait after the first failure, in seconds; each further one is twice as long.
  public var base: Double = 5
  /// The longest wait of the queue's own choice, in seconds.
  public var cap: Double = 60 * 60
  /// The longest wait that a server's `Retry-After` can bring about, in seconds.
  public var retryAfterCap: Double = 24 * 60 * 60

  /// The defaults above.
  public init() {}

  /// The wait after failure number `failure`, the first being 1, in seconds; `random` is in 0..<1.
  ///
  /// Half of the backed-off time and a random part of the other half, so that many devices don't come back at once;
  /// on top of what the server asks for.
  public func delay(afterFailure failure: Int, retryAfter: Double?, random: Double) -> Double {
    var limit = base
    for _ in 0..<max(0, min(failure, 64) - 1) where limit < cap { limit *= 2 }
    limit = min(limit, cap)
    return min(max(0, retryAfter ?? 0), retryAfterCap) + limit / 2 + random * limit / 2
  }

  /// The longest wait that can come about, in seconds.
  var longest: Double { retryAfterCap + cap }
}
