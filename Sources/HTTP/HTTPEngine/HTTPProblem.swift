import HTTPSemantics
public import HTTPTypes
import JSONText

/// An error response in the format `application/problem+json` (RFC 9457).
public struct HTTPProblem: Error, Sendable {
  /// The status.
  public var status: HTTPResponse.Status
  /// An absolute URI that identifies the kind of problem. It never changes.
  public var type: String
  /// A short title of the kind, which is the same in every response.
  public var title: String
  /// What is wrong with this request and how to correct it, for people.
  public var detail: String
  /// Additional fields of the response, such as `Allow` or `Retry-After`.
  public var headerFields: HTTPFields
  /// Additional members of the JSON object (RFC 9457 §3.2), for programs. Names consist of letters and `-`.
  public var numbers: KeyValuePairs<String, Int64> = [:]

  /// Creates a problem from its parts.
  public init(
    status: HTTPResponse.Status, type: String, title: String, detail: String, headerFields: HTTPFields = [:]
  ) {
    self.status = status
    self.type = type
    self.title = title
    self.detail = detail
    self.headerFields = headerFields
  }

  /// Creates a problem of this package. Its type is `urn:data-snapshots:problem:` followed by `kind`.
  public init(
    _ status: HTTPResponse.Status, kind: String, title: String, detail: String, headerFields: HTTPFields = [:]
  ) {
    self.init(
      status: status, type: "urn:data-snapshots:problem:" + kind, title: title, detail: detail,
      headerFields: headerFields)
  }
}

extension HTTPProblem {
  /// 400: the request is malformed, as `detail` explains.
  public static func badRequest(_ detail: String) -> HTTPProblem {
    HTTPProblem(.badRequest, kind: "bad-request", title: "The request is malformed", detail: detail)
  }

  /// 404: no resource has this path.
  public static func noSuchPath() -> HTTPProblem {
    HTTPProblem(
      .notFound, kind: "no-such-path", title: "This path does not exist",
      detail: "No resource of this server has the requested path.")
  }

  /// 405: the path exists, but only allows the methods `allowed` (RFC 9110 §15.5.6).
  public static func methodNotAllowed(_ method: HTTPRequest.Method, allowed: String) -> HTTPProblem {
    HTTPProblem(
      .methodNotAllowed, kind: "method-not-allowed", title: "This resource does not support this method",
      detail: "\(method.rawValue) is not allowed here. Allowed methods: \(allowed).",
      headerFields: [.allow: allowed])
  }

  /// 501: no resource of this server supports `method` (RFC 9110 §15.6.2).
  public static func unknownMethod(_ method: HTTPRequest.Method) -> HTTPProblem {
    HTTPProblem(
      .notImplemented, kind: "unknown-method", title: "This server does not support this method",
      detail: "\(method.rawValue) is not supported by any resource of this server.")
  }

  /// 412: a condition of the request is false (RFC 9110 §15.5.13).
  public static func preconditionFailed() -> HTTPProblem {
    HTTPProblem(
      .preconditionFailed, kind: "precondition-failed", title: "A precondition of the request does not hold",
      detail: "A condition in the If-… fields of the request is false. Nothing was changed.")
  }

  /// 416: no byte of any range exists. `size` is the size of the content (RFC 9110 §15.5.17).
  public static func rangeNotSatisfiable(size: Int64) -> HTTPProblem {
    HTTPProblem(
      .rangeNotSatisfiable, kind: "range-not-satisfiable", title: "The range is outside the content",
      detail: "The content has \(size) bytes, and the requested range contains none of them.",
      headerFields: [.contentRange: "bytes */\(size)"])
  }
}

extension HTTPProblem {
  /// Returns the response for this problem: a JSON object with `type`, `title`, `status`, `detail`, `requestID` and
  /// ``numbers``, as `application/problem+json`. The field `X-Request-Id` has the same id.
  public func response(requestID: String) -> HTTPServerResponse {
    var json: [UInt8] = []
    func append(_ name: String, _ value: String) {
      json.append(UInt8(ascii: json.isEmpty ? "{" : ","))
      JSONString.append(name, to: &json)
      json.append(UInt8(ascii: ":"))
      json += value.utf8
    }
    func append(_ name: String, text: String) {
      append(name, "")
      JSONString.append(text, to: &json, escapesMarkup: true)
    }
    append("type", text: type)
    append("title", text: title)
    append("status", "\(status.code)")
    append("detail", text: detail)
    append("requestID", text: requestID)
    for (name, number) in numbers { append(name, "\(number)") }
    json += "}\n".utf8
    var fields = headerFields
    fields[.contentType] = "application/problem+json"
    fields[.xRequestID] = requestID
    fields[.xContentTypeOptions] = "nosniff"
    return HTTPServerResponse(status: status, headerFields: fields, body: .bytes(json))
  }
}
