import HTTPTypes

/// Why the engine itself answers a request, before or instead of a handler.
enum Refusal: Error, Hashable {
  case malformed(StaticReason)
  case targetTooLong
  case headTooLarge
  case headTooSlow
  case bodyTooSlow
  case bodyTooLarge(limit: Int64)
  case unsupportedVersion
  /// `CONNECT`, whose target is an authority: nothing here answers any method there (RFC 9110 §9.3.6).
  case noProxy
  case notImplemented(StaticReason)
  case expectationFailed
  case internalError
  case tooManyConnections
  case tooManyRequests

  /// A sentence that is known when the program is built: nothing that a client sent gets into an answer.
  struct StaticReason: Hashable, ExpressibleByStringLiteral, Sendable {
    let text: String
    init(stringLiteral text: String) { self.text = text }
  }

  static let brokenCoding = Refusal.malformed("The chunked coding of the body is broken.")

  /// What the client is told. `about:blank` says that the status tells the whole story (RFC 9457 §4.2.1).
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
        .requestHeaderFieldsTooLarge, "The request's fields are more than the server allows."
      )
    case .headTooSlow: (status, detail) = (.requestTimeout, "The request's head did not arrive in time.")
    case .bodyTooSlow: (status, detail) = (.requestTimeout, "The request's body arrives too slowly.")
    case .bodyTooLarge(let limit):
      (status, detail) = (.contentTooLarge, "The body is larger than the limit of \(limit) bytes.")
    case .unsupportedVersion:
      (status, detail) = (.httpVersionNotSupported, "The server speaks HTTP/1.1 and HTTP/1.0.")
    case .noProxy:
      (status, detail) = (.methodNotAllowed, "The server is no proxy: it does not answer CONNECT.")
      fields[.allow] = ""
    case .notImplemented(let reason): (status, detail) = (.notImplemented, reason.text)
    case .expectationFailed:
      (status, detail) = (.expectationFailed, "The only expectation that the server knows is 100-continue.")
    case .internalError:
      (status, detail) = (.internalServerError, "The server failed; its log names this request.")
    case .tooManyConnections:
      (status, detail) = (.serviceUnavailable, "The server has as many connections as it can take.")
      fields[.retryAfter] = "1"
    case .tooManyRequests:
      (status, detail) = (.serviceUnavailable, "The client has as many requests running as it may.")
      fields[.retryAfter] = "1"
    }
    return HTTPProblem(
      status: status, type: "about:blank", title: status.reasonPhrase, detail: detail, headerFields: fields)
  }
}
