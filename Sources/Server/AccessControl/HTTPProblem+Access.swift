package import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability

/// What is said to those who are not admitted. None of it tells what the server has.
extension HTTPProblem {
  /// 401: the call needs a token, and none came (RFC 6750 §3).
  static var tokenNeeded: HTTPProblem {
    unauthorized(
      .tokenNeeded, detail: "Send one as ‘Authorization: Bearer …’."
    )
  }

  /// 401: what came is no token that is taken; which of all reasons it has is nobody's business.
  static var tokenRefused: HTTPProblem {
    unauthorized(
      .tokenRefused, detail: "The server knows no such token, or it was revoked.", error: "invalid_token")
  }

  /// 401: the token was a right one.
  static var tokenExpired: HTTPProblem {
    unauthorized(
      .tokenExpired, detail: "The token was valid once; ask for a new one.", error: "invalid_token")
  }

  /// 401: the link's signature is not this server's.
  static var linkRefused: HTTPProblem {
    unauthorized(
      .linkRefused, detail: "This is no link that this server gave: check that all of it was copied.")
  }

  /// 401: the link was a right one.
  static var linkExpired: HTTPProblem {
    unauthorized(.linkExpired, detail: "The link was valid once; ask whoever gave it for a new one.")
  }

  /// 403: the token's scopes don't allow the call, whatever it is about (RFC 6750 §3.1).
  static func notPermitted(_ permission: Permission) -> HTTPProblem {
    let scopes = Scope.allCases.filter { $0.allows(permission) }.map(\.rawValue)
    return HTTPProblem(
      .notPermitted, detail: "This call needs a token with the scope \(scopes.joined(separator: " or ")).",
      headerFields: [
        .wwwAuthenticate: challenge(error: "insufficient_scope", scope: scopes.first)
      ])
  }

  /// 403: the token is limited to others than `what`.
  package static func outsideLimits(_ what: String) -> HTTPProblem {
    HTTPProblem(.outsideLimits, detail: "The token is limited to other \(what).")
  }

  /// 400: a token in a URL ends up in logs, histories and other sites' hands (RFC 6750 §5.3).
  package static var tokenInURL: HTTPProblem {
    HTTPProblem(
      .tokenInURL, detail: "Send it as ‘Authorization: Bearer …’, and revoke the one that was in the URL.")
  }

  /// 403: a page of another site made a browser send this.
  package static var crossSite: HTTPProblem {
    HTTPProblem(
      .crossSite,
      detail: "The browser says that the request comes from a page of another site; nothing was done.")
  }

  /// 403: the form is not one that this server made for this browser.
  package static var staleForm: HTTPProblem {
    HTTPProblem(
      .staleForm,
      detail: "Nothing was done. Open the page again, and send its form; the browser must take cookies.")
  }

  /// 403: a token was entered on its way through the open.
  package static var signInNeedsTLS: HTTPProblem {
    HTTPProblem(
      .signInNeedsTLS,
      detail: """
        This page was opened without TLS, so the token could be read on its way, and browsers keep no session. Open it \
        as https://…, by a proxy in front of the server, or on the server's own machine; and revoke the token.
        """)
  }

  /// 401: who had signed in has to do it again.
  static var sessionEnded: HTTPProblem {
    unauthorized(
      .sessionEnded,
      detail: "It was not used for long, the server was started anew, or the token is not taken any more.")
  }

  /// 421: the request was sent to a name that may be anybody's (RFC 9110 §15.5.20).
  static var foreignName: HTTPProblem {
    HTTPProblem(
      .foreignName,
      detail: """
        While no token is needed the server answers only under an address, localhost, or a name without a dot. \
        Make a token with `snapshot token create`, or say --insecure.
        """)
  }

  /// 429: a limit is used up (RFC 6585 §4).
  static func tooManyRequests(_ verdict: TokenBucket.Verdict, of name: String) -> HTTPProblem {
    var fields = verdict.fields(name)
    fields[.retryAfter] = String(max(verdict.secondsUntilEnough, 1))
    return HTTPProblem(
      .rateLimited,
      detail:
        "One \(name) may make \(verdict.allowance.amount) requests in \(verdict.allowance.seconds) seconds.",
      headerFields: fields)
  }

  /// 429: a quota of bytes is used up.
  static func tooManyBytes(_ verdict: TokenBucket.Verdict, of name: String) -> HTTPProblem {
    var fields = verdict.fields(name, unit: "content-bytes")
    fields[.retryAfter] = String(max(verdict.secondsUntilEnough, 1))
    return HTTPProblem(
      .uploadQuotaExceeded,
      detail: """
        One \(name) may upload \(verdict.allowance.amount) bytes in \(verdict.allowance.seconds) seconds.
        """,
      headerFields: fields)
  }

  /// 429: somebody at this address tries one wrong token after the other.
  static func tooManyWrongTokens(retryAfter seconds: Int) -> HTTPProblem {
    HTTPProblem(
      .tooManyWrongTokens,
      detail: "Too many tokens that came from this address are not taken. Right ones still are.",
      headerFields: [.retryAfter: String(seconds)])
  }

  /// 503: nobody can say who may do what.
  static var accessUnavailable: HTTPProblem {
    HTTPProblem(
      .accessUnavailable, detail: "Nobody is admitted until it can; its log says why.",
      headerFields: [.retryAfter: "30"])
  }

  /// 403: the call is about all snapshots, and its caller is limited to some.
  static var limitedCaller: HTTPProblem {
    HTTPProblem(.callerLimited, detail: "This call is about all snapshots; it needs a token without limits.")
  }

  /// 413: the body is, or becomes, larger than `limit` bytes.
  package static func tooLarge(limit: Int64) -> HTTPProblem {
    HTTPProblem(
      .contentTooLarge, detail: "The server takes at most \(limit) bytes here. Nothing of it was kept.")
  }

  private static func unauthorized(
    _ kind: ProblemKind, detail: String, error: String? = nil
  ) -> HTTPProblem {
    HTTPProblem(
      kind, detail: detail, headerFields: [.wwwAuthenticate: challenge(error: error)])
  }

  private static func challenge(error: String? = nil, scope: String? = nil) -> String {
    var parts = [#"Bearer realm="snapshots""#]
    if let error { parts.append("error=\"\(error)\"") }
    if let scope { parts.append("scope=\"\(scope)\"") }
    return parts.joined(separator: ", ")
  }
}

extension TokenBucket.Verdict {
  /// How much of the limit of one `name` is left.
  func fields(_ name: String, unit: String? = nil) -> HTTPFields {
    let field = RateLimitField(
      name: name, quota: allowance.amount, window: allowance.seconds, unit: unit,
      remaining: remaining, reset: secondsUntilFull)
    return [.rateLimitPolicy: field.policy, .rateLimit: field.fieldValue]
  }
}
