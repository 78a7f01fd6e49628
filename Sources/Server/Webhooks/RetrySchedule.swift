import Foundation
import HTTPSemantics

/// When an event is sent again after a try failed: the schedule that Standard Webhooks 1.0.0 recommends.
package enum RetrySchedule {
  /// The pause before each try, in seconds.
  package static let pauses: [Int64] = [
    0, 5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600,
  ]

  /// The pause after `tries` failed tries, in seconds; `nil` if there is no further try.
  /// - Parameter retryAfter: the pause that the receiver requested. It can make the pause longer, up to
  ///   ``WebhookLimits/retryAfterSeconds``, but not shorter.
  package static func pause(after tries: Int, retryAfter: Int64? = nil) -> Int64? {
    guard pauses.indices.contains(tries) else { return nil }
    return max(pauses[tries], min(retryAfter ?? 0, WebhookLimits.retryAfterSeconds))
  }

  /// Reads the value of `Retry-After` (RFC 9110 §10.2.3): a number of seconds, or a date. Returns `nil` if it is
  /// malformed.
  static func seconds(retryAfter text: String, at now: Date) -> Int64? {
    if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      // A number that is too large is a long time.
      return Int64(text) ?? .max
    }
    return HTTPDate(text).map { max(0, $0.secondsSince1970 - Int64(now.timeIntervalSince1970)) }
  }
}
