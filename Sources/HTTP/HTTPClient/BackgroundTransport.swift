package import Foundation
package import HTTPTypes

/// Sends files even while the app is suspended or does not run.
///
/// Each exchange has a name, by which the app finds it again after a relaunch. Its outcome is kept until it is taken, but
/// no longer than the process: an app that ends in between does not get it again.
///
/// Unlike a ``Transport``, it may follow redirects, and repeat a request whose connection broke. All methods are
/// thread-safe.
package protocol BackgroundTransport: Sendable {
  /// The names of all exchanges that are under way or whose outcome was not taken, also those of earlier processes.
  func names() async -> Set<String>

  /// Whether the exchange `name` is under way. Those of earlier processes are known after ``names()``.
  func isUnderWay(_ name: String) -> Bool

  /// Starts to send `request` with the contents of `file`, which must not change until the exchange has ended. Replaces
  /// an exchange with the same name.
  func start(_ request: HTTPRequest, sending file: URL, as name: String) throws(TransportError)

  /// Waits for the outcome of the exchange `name`, and takes it. If the task is cancelled, the exchange goes on.
  /// - Parameter progress: called with the number of bytes sent, on any thread.
  /// - Returns: `nil` if there is no such exchange any more, or the task is cancelled.
  func outcome(
    of name: String, progress: (@Sendable (Int64) -> Void)?
  ) async -> Result<TransportResponse, TransportError>?

  /// Ends the exchange `name` without an outcome, if there is one.
  func cancel(_ name: String)

  /// Waits until the events for which the system has woken or launched the app are processed, or the task is cancelled.
  func eventsEnd() async
}
