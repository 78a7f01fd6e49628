import HTTPTypes

/// The reason for an error response that the engine sends itself, before or instead of calling a handler.
enum Refusal: Error, Hashable {
  case malformed(StaticReason)
  case targetTooLong
  case headTooLarge
  case headTooSlow
  case bodyTooSlow
  case bodyTooLarge(limit: Int64)
  case unsupportedVersion
  /// `CONNECT`. Its target is an authority, for which this server supports no method (RFC 9110 §9.3.6).
  case noProxy
  case notImplemented(StaticReason)
  case expectationFailed
  case internalError
  /// Plain HTTP on a port for HTTPS.
  case notSecure
  case tooManyConnections
  case tooManyRequests

  /// A sentence that is known at compile time, so that no data of a client gets into a response.
  struct StaticReason: Hashable, ExpressibleByStringLiteral, Sendable {
    let text: String
    init(stringLiteral text: String) { self.text = text }
  }

  static let brokenCoding = Refusal.malformed("The chunked coding of the body is broken.")

  /// The response's content. `about:blank` means that the problem is described by the status alone (RFC 9457 §4.2.1).
  var problem: HTTPProblem {
    var fields = HTTPFields()
    let status: HTTPResponse.Status
    let detail: String
    switch self {
    case .malformed(let reason): (status, detail) = (.badRequest, reason.text)
    case .targetTooLong:
      (status, detail) = (.uriTooLong, "The request line is longer than the server allows.")
    case .headTooLarge:
      (status, detail) = (
        .requestHeaderFieldsTooLarge, "The request's head is larger than the server allows."
      )
    case .headTooSlow: (status, detail) = (.requestTimeout, "The request's head did not arrive in time.")
    case .bodyTooSlow: (status, detail) = (.requestTimeout, "The request's body arrives too slowly.")
    case .bodyTooLarge(let limit):
      (status, detail) = (.contentTooLarge, "The body is larger than the limit of \(limit) bytes.")
    case .unsupportedVersion:
      (status, detail) = (.httpVersionNotSupported, "The server supports HTTP/1.1 and HTTP/1.0.")
    case .noProxy:
      (status, detail) = (.methodNotAllowed, "The server is not a proxy and does not support CONNECT.")
      fields[.allow] = ""
    case .notImplemented(let reason): (status, detail) = (.notImplemented, reason.text)
    case .expectationFailed:
      (status, detail) = (.expectationFailed, "The server supports only the expectation 100-continue.")
    case .internalError:
      (status, detail) = (.internalServerError, "The server failed. Its log names this request's id.")
    case .notSecure:
      (status, detail) = (.badRequest, "This port expects HTTPS: use a URL that begins with https.")
    case .tooManyConnections:
      (status, detail) = (.serviceUnavailable, "The server has reached its maximum number of connections.")
      fields[.retryAfter] = "1"
    case .tooManyRequests:
      (status, detail) = (.serviceUnavailable, "The client has too many concurrent requests.")
      fields[.retryAfter] = "1"
    }
    return HTTPProblem(
      status: status, type: "about:blank", title: status.reasonPhrase, detail: detail, headerFields: fields)
  }
}
