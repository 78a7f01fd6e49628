package import HTTPEngine

/// The limits of a replay server. A value equal to its limit is allowed.
package enum ReplayLimits {
  /// The maximum size of a request's body in bytes. Beyond: 413.
  package static let requestBytes: Int64 = 16 << 20
  /// The maximum size of a recording, and of an answer of the live server, in bytes. Beyond: 500, and 502.
  package static let answerBytes: Int64 = 64 << 20
  /// The maximum number of rules in all.
  package static let rules = 1000
  /// The maximum size of a file with rules in bytes.
  package static let ruleFileBytes = 1 << 20
  /// The maximum number of requests that the log keeps.
  package static let loggedRequests = 500
  /// The maximum number of different missing requests that are remembered.
  package static let missingRequests = 100
  /// The maximum number of recordings on the page.
  package static let shownRecordings = 500
  /// The number of bytes kept of a request's path and query in the log.
  package static let loggedTargetBytes = 1000
  /// The maximum recorded delay that is repeated.
  package static let delay: Duration = .seconds(300)
  /// The number of answers that are read at the same time.
  static let readers = 2

  /// The limits of the HTTP server.
  package static var http: HTTPLimits {
    var limits = HTTPLimits()
    limits.bodyBytes = requestBytes
    limits.connections = 128
    limits.connectionsPerAddress = 128
    return limits
  }
}
