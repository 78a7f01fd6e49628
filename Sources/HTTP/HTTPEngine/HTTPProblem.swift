public import HTTPTypes

/// An error that the client is told, as `application/problem+json` (RFC 9457).
public struct HTTPProblem: Error, Sendable {
  /// The status.
  public var status: HTTPResponse.Status
  /// An absolute URI that names the kind of problem and never changes.
  public var type: String
  /// The kind in a few words, the same every time.
  public var title: String
  /// What is wrong this time and what to do about it, for people.
  public var detail: String
  /// Fields to send along, such as `Allow` or `Retry-After`.
  public var headerFields: HTTPFields
  /// Further members of the answer's object (RFC 9457 §3.2), which machines read; names of letters and `-`.
  public var numbers: KeyValuePairs<String, Int64> = [:]

  /// Describes a problem.
  public init(
    status: HTTPResponse.Status, type: String, title: String, detail: String, headerFields: HTTPFields = [:]
  ) {
    self.status = status
    self.type = type
    self.title = title
    self.detail = detail
    self.headerFields = headerFields
  }

  /// Describes a problem of a kind that this package names: its type is `urn:data-snapshots:problem:` and `kind`.
  public init(
    _ status: HTTPResponse.Status, kind: String, title: String, detail: String, headerFields: HTTPFields = [:]
  ) {
    self.init(
      status: status, type: "urn:data-snapshots:problem:" + kind, title: title, detail: detail,
      headerFields: headerFields)
  }
}

extension HTTPProblem {
  /// 400: the request breaks a rule, which `detail` names.
  public static func badRequest(_ detail: String) -> HTTPProblem {
    HTTPProblem(.badRequest, kind: "bad-request", title: "The request is malformed", detail: detail)
  }

  /// 404: nothing answers under this path.
  public static func noSuchPath() -> HTTPProblem {
    HTTPProblem(
      .notFound, kind: "no-such-path", title: "There is nothing under this path",
      detail: "No resource of this server has the path that was asked for.")
  }

  /// 405: the path exists, and answers `allowed` only (RFC 9110 §15.5.6).
  public static func methodNotAllowed(_ method: HTTPRequest.Method, allowed: String) -> HTTPProblem {
    HTTPProblem(
      .methodNotAllowed, kind: "method-not-allowed", title: "This resource does not answer this method",
      detail: "\(method.rawValue) is not answered here; allowed are: \(allowed).",
      headerFields: [.allow: allowed])
  }

  /// 501: no resource of this server knows `method` (RFC 9110 §15.6.2).
  public static func unknownMethod(_ method: HTTPRequest.Method) -> HTTPProblem {
    HTTPProblem(
      .notImplemented, kind: "unknown-method", title: "This server does not know this method",
      detail: "\(method.rawValue) is a method that no resource of this server answers.")
  }

  /// 412: a condition that the request stated does not hold (RFC 9110 §15.5.13).
  public static func preconditionFailed() -> HTTPProblem {
    HTTPProblem(
      .preconditionFailed, kind: "precondition-failed", title: "A precondition of the request does not hold",
      detail: "What the request states in its If-… fields is not so; nothing was done.")
  }

  /// 416: no byte of any range exists; `size` is how many there are (RFC 9110 §15.5.17).
  public static func rangeNotSatisfiable(size: Int64) -> HTTPProblem {
    HTTPProblem(
      .rangeNotSatisfiable, kind: "range-not-satisfiable", title: "The range lies outside of the content",
      detail: "The content has \(size) bytes, and none of them is in the range that was asked for.",
      headerFields: [.contentRange: "bytes */\(size)"])
  }
}
