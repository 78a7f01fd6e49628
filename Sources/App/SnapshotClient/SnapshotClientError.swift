/// Why the client did not do what it was asked for.
///
/// Its ``description`` is one sentence for people that says what to do about it; it never holds the token.
public struct SnapshotClientError: Error, Sendable, CustomStringConvertible {
  /// The kinds there are; new ones may come.
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The kind's name.
    public let rawValue: String

    /// A kind by its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The kind's name.
    public var description: String { rawValue }
  }

  /// The kind.
  public let code: Code
  /// The status of the answer, where one came.
  public let status: Int?
  /// What the server said, where it said something.
  public let problem: ServerProblem?
  /// How long the server asks to wait, in seconds.
  public let retryAfter: Double?
  /// The error below this one.
  public let cause: (any Error)?
  private let detail: String?

  init(
    _ code: Code, _ detail: String? = nil, status: Int? = nil, problem: ServerProblem? = nil,
    retryAfter: Double? = nil, cause: (any Error)? = nil
  ) {
    self.code = code
    self.detail = detail
    self.status = status
    self.problem = problem
    self.retryAfter = retryAfter
    self.cause = cause
  }

  /// One sentence: what went wrong, and what to do about it.
  public var description: String {
    var sentence = code.summary
    if let detail = problem?.detail ?? problem?.title ?? detail {
      sentence += ": " + detail.trimmingSuffix { $0 == "." }
    } else if let status {
      sentence += " (status \(status))"
    }
    if let mend = code.mend { sentence += "; " + mend }
    // The server chose the number.
    if let seconds = retryAfter.flatMap({ Int(exactly: $0.rounded(.up)) }) {
      sentence += "; it asks to wait \(seconds) s"
    }
    if let id = problem?.requestID { sentence += " (request \(id))" }
    return sentence + "."
  }
}

extension SnapshotClientError.Code {
  /// The server's address is no usable URL.
  public static let invalidServer = Self(rawValue: "invalidServer")
  /// The token can't be sent as it is.
  public static let invalidToken = Self(rawValue: "invalidToken")
  /// The token would have been readable on the way.
  public static let insecureToken = Self(rawValue: "insecureToken")
  /// The request can't be sent as it is.
  public static let invalidRequest = Self(rawValue: "invalidRequest")
  /// No connection was made.
  public static let connectionFailed = Self(rawValue: "connectionFailed")
  /// The server took too long.
  public static let timedOut = Self(rawValue: "timedOut")
  /// The connection broke.
  public static let interrupted = Self(rawValue: "interrupted")
  /// The task was cancelled.
  public static let cancelled = Self(rawValue: "cancelled")
  /// A file of this machine can't be read or written.
  public static let file = Self(rawValue: "file")
  /// A bundle that waits to be uploaded is not what it was any more.
  public static let bundleDamaged = Self(rawValue: "bundleDamaged")
  /// The bytes that came are not the ones that the server has.
  public static let digestMismatch = Self(rawValue: "digestMismatch")
  /// The server wants a token, or another one (401).
  public static let unauthorized = Self(rawValue: "unauthorized")
  /// The token does not allow this (403).
  public static let forbidden = Self(rawValue: "forbidden")
  /// There is no such snapshot or report (404).
  public static let notFound = Self(rawValue: "notFound")
  /// The snapshot was deleted (410).
  public static let gone = Self(rawValue: "gone")
  /// Another snapshot has that name already (409).
  public static let conflict = Self(rawValue: "conflict")
  /// The bundle is larger than the server takes (413).
  public static let bundleTooLarge = Self(rawValue: "bundleTooLarge")
  /// The server refuses the request for another reason (other 4xx).
  public static let refused = Self(rawValue: "refused")
  /// Too many requests (429).
  public static let rateLimited = Self(rawValue: "rateLimited")
  /// The server can't answer now (502, 503, 504).
  public static let unavailable = Self(rawValue: "unavailable")
  /// The server has no room left (507).
  public static let serverFull = Self(rawValue: "serverFull")
  /// The server failed (other 5xx).
  public static let serverFailed = Self(rawValue: "serverFailed")
  /// What came is no answer of this API.
  public static let unexpectedAnswer = Self(rawValue: "unexpectedAnswer")

  fileprivate var summary: String { Self.words[self]?.summary ?? rawValue }
  fileprivate var mend: String? { Self.words[self]?.mend }

  private static let words: [Self: (summary: String, mend: String?)] = [
    .invalidServer: ("The server can't be used", "give it as https://host or https://host/path"),
    .invalidToken: ("The token can't be used", "check how it was copied"),
    .insecureToken: (
      "The token would go to the server unprotected", "give the server's https address or allow it explicitly"
    ),
    .invalidRequest: ("The request can't be sent", nil),
    .connectionFailed: ("The server can't be reached", "check its address and that it is running"),
    .timedOut: ("The server took too long", "try again, or allow more time"),
    .interrupted: ("The connection broke", "try again"),
    .cancelled: ("The transfer was cancelled", nil),
    .file: ("A file can't be read or written", nil),
    .bundleDamaged: ("The bundle on this device was damaged or removed", "make another one"),
    .digestMismatch: ("What arrived is not what the server has", "nothing was put in place, fetch it again"),
    .unauthorized: ("The server does not know the token", "give one that it knows"),
    .forbidden: ("The token does not allow this", "give one that does"),
    .notFound: ("The server has nothing under that name", "check the name, and that the token may see it"),
    .gone: ("The snapshot was deleted", nil),
    .conflict: ("The server has something else under that name", "attach it under another one"),
    .bundleTooLarge: (
      "The bundle is larger than the server takes", "record less, or raise the server's limit"
    ),
    .refused: ("The server refuses the request", nil),
    .rateLimited: ("The server got too many requests", "try again later"),
    .unavailable: ("The server can't answer now", "try again later"),
    .serverFull: ("The server has no room left", "delete what is not needed any more"),
    .serverFailed: ("The server failed", "its log says why"),
    .unexpectedAnswer: ("That is no answer of a snapshot server", "check the server's address"),
  ]
}

extension String {
  fileprivate func trimmingSuffix(while isTrimmed: (Character) -> Bool) -> String {
    var text = Substring(self)
    while let last = text.last, isTrimmed(last) { text.removeLast() }
    return String(text)
  }
}
