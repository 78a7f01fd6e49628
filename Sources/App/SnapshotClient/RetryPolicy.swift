import Foundation
import HTTPSemantics
public import HTTPClient
public import HTTPTypes

/// Determines which requests are retried, and the delay before each retry.
///
/// Idempotent methods (RFC 9110 §9.2.2), such as `GET`, `PUT` and `DELETE`, are retried after a broken connection, a
/// timeout or one of ``retriedStatuses``. Other methods are retried only if no connection was made.
public struct RetryPolicy: Sendable, Hashable {
  /// The maximum number of attempts, at least 1. A download starts counting again after 16 KiB of progress, an upload
  /// after any.
  public var attempts = 4
  /// The maximum delay before the second attempt, in seconds. It doubles with each further attempt.
  public var base: Double = 0.25
  /// The maximum delay in seconds, unless the server asks for more.
  public var cap: Double = 20
  /// The maximum delay that a server can request by `Retry-After`, in seconds. If a server requests more, the request
  /// fails immediately, and the error contains the requested delay.
  public var retryAfterCap: Double = 120

  /// Temporary statuses: the request timed out (408), came too early (425) or too often (429), the server is overloaded
  /// or in maintenance (503), or a proxy did not reach it (502, 504). 500 is not included, because it does not indicate
  /// a temporary failure.
  public static let retriedStatuses: Set<Int> = [408, 425, 429, 502, 503, 504]

  /// The number of bytes that a download must receive to be repeated as if it had begun with them.
  static let leastProgress: Int64 = 16 * 1024
  /// The number of times that a download discards what it has and starts from the first byte.
  static let maximumRestarts = 3

  /// Creates a policy with the default values.
  public init() {}

  /// Returns the delay after attempt number `attempt`, starting at 1, in seconds; `random` is in 0..<1. It uses full
  /// jitter: a random delay between zero and the exponential limit is added to the delay that the server requests.
  /// - Returns: `nil` if the server requests more than ``retryAfterCap``.
  public func delay(afterAttempt attempt: Int, retryAfter: Double?, random: Double) -> Double? {
    if let retryAfter, retryAfter > retryAfterCap { return nil }
    let doublings = Double(max(0, min(attempt - 1, 60)))
    var limit = base
    for _ in 0..<Int(doublings) where limit < cap { limit *= 2 }
    return (retryAfter ?? 0) + random * min(limit, cap)
  }

  /// Whether a request with `method` can be repeated after `error`.
  public func allowsRepeating(_ method: HTTPRequest.Method, after error: TransportError) -> Bool {
    switch error {
    case .connectionFailed: true
    case .timedOut, .interrupted: method.isIdempotent
    case .invalidRequest, .untrusted, .unexpectedRange, .responseTooLarge, .file, .cancelled: false
    }
  }

  /// Whether a request with `method` can be repeated after a response with `status`.
  public func allowsRepeating(_ method: HTTPRequest.Method, after status: HTTPResponse.Status) -> Bool {
    Self.retriedStatuses.contains(status.code) && method.isIdempotent
  }
}

/// Counts the attempts of one operation, and waits between them.
struct Retries {
  private let policy: RetryPolicy
  private let environment: ClientEnvironment
  private var attempts = 0

  init(_ policy: RetryPolicy, in environment: ClientEnvironment) {
    self.policy = policy
    self.environment = environment
  }

  /// Resets the number of attempts, because the operation has made progress.
  mutating func startOver() { attempts = 0 }

  /// Waits before the next attempt, or throws `error` if no further attempt is allowed.
  mutating func pause(after error: SnapshotClientError, if isAllowed: Bool) async throws(SnapshotClientError)
  {
    attempts += 1
    guard isAllowed, attempts < policy.attempts,
      let delay = policy.delay(
        afterAttempt: attempts, retryAfter: error.retryAfter, random: environment.random())
    else { throw error }
    do {
      try await environment.sleep(.seconds(delay))
      try Task.checkCancellation()
    } catch {
      throw SnapshotClientError(.cancelled, cause: error)
    }
  }
}

/// The field `Retry-After`: seconds, or a date (RFC 9110 §10.2.3).
enum RetryAfter {
  /// The seconds to wait from `now`, never negative; `nil` if `text` is neither form.
  static func seconds(_ text: String, now: Date) -> Double? {
    let text = text.trimmingCharacters(in: .whitespaces)
    if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { return Double(text) }
    return HTTPDate(text).map { max(0, Double($0.secondsSince1970) - now.timeIntervalSince1970) }
  }
}
