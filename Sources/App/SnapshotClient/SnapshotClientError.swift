/// A failure of the client.
///
/// Its ``description`` is a sentence for people that includes a remedy. It never contains the token.
public struct SnapshotClientError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure. Later versions can add more.
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The kind's name.
    public let rawValue: String

    /// Creates a kind from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The kind's name.
    public var description: String { rawValue }
  }

  /// The kind of failure.
  public let code: Code
  /// The status of the response, if there was one.
  public let status: Int?
  /// The server's description of the problem, if it sent one.
  public let problem: ServerProblem?
  /// The delay that the server requests, in seconds.
  public let retryAfter: Double?
  /// The underlying error.
  public let cause: (any Error)?
  /// Whether something between client and server answered, or another kind of server.
  let isForeign: Bool
  private let detail: String?
  private let mend: String?

  init(
    _ code: Code, _ detail: String? = nil, mend: String? = nil, status: Int? = nil,
    problem: ServerProblem? = nil, isForeign: Bool = false, retryAfter: Double? = nil,
    cause: (any Error)? = nil
  ) {
    self.code = code
    self.detail = detail
    self.mend = mend ?? code.mend
    self.status = status
    self.problem = problem
    self.isForeign = isForeign
    self.retryAfter = retryAfter
    self.cause = cause
  }

  /// One sentence: the failure and its remedy.
  public var description: String {
    var sentence = code.summary
    if let detail = problem?.detail ?? problem?.title ?? detail {
      sentence += ": " + detail.trimmingSuffix { $0 == "." }
    } else if let status {
      sentence += " (status \(status))"
    }
    if let mend { sentence += "; " + mend }
    // The server chose the number, which can exceed `Int`.
    if let seconds = retryAfter.flatMap({ Int(exactly: $0.rounded(.up)) }) {
      sentence += "; it asks to wait \(seconds) s"
    }
    if let id = problem?.requestID { sentence += " (request \(id))" }
    return sentence + "."
  }
}

extension SnapshotClientError.Code {
  /// The server's address is not a usable URL.
  public static let invalidServer = Self(rawValue: "invalidServer")
  /// The token contains characters that can't be sent, or is too long.
  public static let invalidToken = Self(rawValue: "invalidToken")
  /// The token would be sent unencrypted.
  public static let insecureToken = Self(rawValue: "insecureToken")
  /// The request is invalid.
  public static let invalidRequest = Self(rawValue: "invalidRequest")
  /// No connection was made.
  public static let connectionFailed = Self(rawValue: "connectionFailed")
  /// The server's certificate is not trusted, or does not have the pinned key.
  public static let untrustedServer = Self(rawValue: "untrustedServer")
  /// The server did not respond in time.
  public static let timedOut = Self(rawValue: "timedOut")
  /// The connection broke.
  public static let interrupted = Self(rawValue: "interrupted")
  /// The task was cancelled.
  public static let cancelled = Self(rawValue: "cancelled")
  /// A local file can't be read or written.
  public static let file = Self(rawValue: "file")
  /// A queued bundle was changed or removed.
  public static let bundleDamaged = Self(rawValue: "bundleDamaged")
  /// The received bytes do not match the server's digest.
  public static let digestMismatch = Self(rawValue: "digestMismatch")
  /// The token is missing or invalid (401).
  public static let unauthorized = Self(rawValue: "unauthorized")
  /// The token does not allow this (403).
  public static let forbidden = Self(rawValue: "forbidden")
  /// There is no such snapshot or report (404).
  public static let notFound = Self(rawValue: "notFound")
  /// The snapshot was deleted (410).
  public static let gone = Self(rawValue: "gone")
  /// A different snapshot already has that UUID (409).
  public static let conflict = Self(rawValue: "conflict")
  /// The bundle exceeds the server's limit (413).
  public static let bundleTooLarge = Self(rawValue: "bundleTooLarge")
  /// The server rejects the request for another reason (other 4xx).
  public static let refused = Self(rawValue: "refused")
  /// Too many requests (429).
  public static let rateLimited = Self(rawValue: "rateLimited")
  /// The server is temporarily unavailable (502, 503, 504).
  public static let unavailable = Self(rawValue: "unavailable")
  /// The server has run out of space (507).
  public static let serverFull = Self(rawValue: "serverFull")
  /// The server failed (other 5xx).
  public static let serverFailed = Self(rawValue: "serverFailed")
  /// The response is not a valid response of this API.
  public static let unexpectedAnswer = Self(rawValue: "unexpectedAnswer")

  fileprivate var summary: String { Self.words[self]?.summary ?? rawValue }
  fileprivate var mend: String? { Self.words[self]?.mend }

  private static let words: [Self: (summary: String, mend: String?)] = [
    .invalidServer: ("The server can't be used", "use https://host or https://host/path"),
    .invalidToken: ("The token can't be used", "check how it was copied"),
    .insecureToken: (
      "The token would be sent unencrypted", "use the server's https address, or allow it explicitly"
    ),
    .invalidRequest: ("The request can't be sent", nil),
    .connectionFailed: ("The server can't be reached", "check its address and that it is running"),
    .untrustedServer: (
      "The server's certificate is not trusted", "check the address and the clock, or state the server's pin"
    ),
    .timedOut: ("The server did not respond in time", "try again, or allow more time"),
    .interrupted: ("The connection broke", "try again"),
    .cancelled: ("The transfer was cancelled", nil),
    .file: ("A file can't be read or written", nil),
    .bundleDamaged: ("The bundle on this device was damaged or removed", "make a new one"),
    .digestMismatch: ("The download does not match its digest", "the file was not replaced, fetch it again"),
    .unauthorized: ("The server requires a valid token", "check the token"),
    .forbidden: ("The token does not allow this", "use a token that does"),
    .notFound: ("The snapshot or report was not found", "check its name, and the token's access to it"),
    .gone: ("The snapshot was deleted", nil),
    .conflict: ("The server has a different snapshot with that UUID", "attach it with another UUID"),
    .bundleTooLarge: (
      "The bundle is larger than the server accepts", "record less, or raise the server's limit"
    ),
    .refused: ("The server rejected the request", nil),
    .rateLimited: ("The server received too many requests", "try again later"),
    .unavailable: ("The server is unavailable now", "try again later"),
    .serverFull: ("The server has no room left", "delete snapshots that are not needed any more"),
    .serverFailed: ("The server failed", "see its log"),
    .unexpectedAnswer: ("The response is not that of a snapshot server", "check the server's address"),
  ]
}

extension String {
  fileprivate func trimmingSuffix(while isTrimmed: (Character) -> Bool) -> String {
    var text = Substring(self)
    while let last = text.last, isTrimmed(last) { text.removeLast() }
    return String(text)
  }
}
