import Foundation
import HTTPSemantics
import HTTPTypes
import SystemIO

/// The time that requests are signed with: that of this system, corrected if the store refused it. Thread-safe.
///
/// Stores refuse signatures whose time differs by more than 15 minutes from their own. The answer has the store's time.
final class StoreClock: Sendable {
  private let now: @Sendable () -> Date
  private let onCorrection: @Sendable (_ seconds: Double) -> Void
  /// How many seconds the store's clock is ahead of this system's.
  private let difference = Lock(0.0)

  init(_ environment: S3Environment) {
    now = environment.now
    onCorrection = environment.onClockCorrection
  }

  /// The time of the store, as far as it is known.
  var time: Date { now() + difference.withLock { $0 } }

  /// Corrects the clock by a response that refuses a request.
  /// - Parameters:
  ///   - head: the head of the response. The response to a `HEAD` request does not state the reason of the refusal.
  ///   - time: the time with which the request was signed.
  /// - Returns: whether that time may be the reason of the refusal, so that the request should be signed again.
  func correct(by head: HTTPResponse, signedAt time: Date) -> Bool {
    guard head.status == .forbidden, let date = head.headerFields[.date].flatMap(HTTPDate.init) else {
      return false
    }
    let theirs = Date(timeIntervalSince1970: TimeInterval(date.secondsSince1970))
    guard abs(theirs.timeIntervalSince(time)) > S3Limits.clockTolerance else { return false }
    let seconds = theirs.timeIntervalSince(now())
    difference.withLock { $0 = seconds }
    onCorrection(seconds)
    return true
  }
}
