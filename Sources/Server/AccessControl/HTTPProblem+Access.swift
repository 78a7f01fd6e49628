package import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability

/// The problems of refused callers. They disclose nothing about the server's contents.
extension HTTPProblem {
  /// 401: the call needs a token, and the request has none (RFC 6750 §3).
  static var tokenNeeded: HTTPProblem {
    unauthorized(
      .tokenNeeded, detail: "Send one as ‘Authorization: Bearer …’."
    )
  }

  /// 401: the token is not accepted. The reason is not disclosed.
  static var tokenRefused: HTTPProblem {
    unauthorized(
      .tokenRefused, detail: "The token is unknown or was revoked.", error: "invalid_token")
  }

  /// 401: the token was valid, but has expired.
  static var tokenExpired: HTTPProblem {
    unauthorized(
      .tokenExpired, detail: "The token has expired. Ask for a new one.", error: "invalid_token")
  }

  /// 401: the link was not made by this server, or was revoked.
  static var linkRefused: HTTPProblem {
    unauthorized(
      .linkRefused,
      detail: "The link was not created by this server, or was revoked. Check that it was copied completely.")
  }

  /// 401: the link was valid, but has expired.
  static var linkExpired: HTTPProblem {
    unauthorized(.linkExpired, detail: "The link has expired. Ask its sender for a new one.")
  }

  /// 403 or 413: the link to attach does not allow the bundle.
  static func linkRefusal(_ refusal: AttachLink.Refusal) -> HTTPProblem {
    switch refusal {
    case .count(let count):
      HTTPProblem(
        .linkUsedUp,
        detail: """
          The link was for \(count == 1 ? "one snapshot" : "\(count) snapshots"). Ask its sender for a new one. Nothing \
          was stored.
          """)
    case .bytes(let remaining, let bytes):
      HTTPProblem(
        .linkBytesExceeded,
        detail: """
          The link allows \(bytes) bytes, of which \(remaining) remain for this snapshot. Ask its sender for a new one. \
          Nothing was stored.
          """)
    }
  }

  /// 404: the report has no link to attach with the id.
  static var noSuchLink: HTTPProblem {
    HTTPProblem(.noSuchLink, detail: "The report has no link to attach with this id.")
  }

  /// 409: the report has too many valid links to attach.
  static var tooManyLinks: HTTPProblem {
    HTTPProblem(
      .tooManyLinks,
      detail: "A report has at most \(AttachLink.Limits.perReport) valid links to attach. Revoke one first.")
  }

  /// 409: everybody can attach to an open store.
  static var linksNeedTokens: HTTPProblem {
    HTTPProblem(
      .linksNeedTokens,
      detail: """
        Whoever reaches this server can read and attach everything, so a link would protect nothing. Create a token \
        with `snapshot token create`, and make the link with it.
        """)
  }

  /// 409: a link is valid only while the token that made it is, and nothing is known of users between requests.
  static var linksNeedToken: HTTPProblem {
    HTTPProblem(
      .linksNeedTokens,
      detail: """
        A link is valid while the token is with which it was made. You have signed in at a proxy, without a token: make \
        the link with `snapshot link --attach` and a token.
        """)
  }

  /// 400: the parameter `name` of the query is not a number in `range`.
  package static func outside(_ name: String, _ range: ClosedRange<some BinaryInteger>) -> HTTPProblem {
    HTTPProblem(
      .badRequest, detail: "‘\(name)’ must be a number from \(range.lowerBound) to \(range.upperBound).")
  }

  /// 401: the link has signed a browser in.
  static var signInLinkUsed: HTTPProblem {
    unauthorized(
      .linkExpired,
      detail: """
        The address signs one browser in, once. If that was not yours, somebody else on this machine has used it: stop \
        `snapshot view`, which prints a new address each time that it starts.
        """)
  }

  /// 403: none of the token's scopes allows the call (RFC 6750 §3.1).
  /// - Parameter isUser: whether a proxy has named the caller, so that the scopes are those of groups.
  package static func notPermitted(_ permission: Permission, isUser: Bool = false) -> HTTPProblem {
    let scopes = Scope.allCases.filter { $0.allows(permission) }.map(\.rawValue)
    return HTTPProblem(
      .notPermitted,
      detail:
        "This call needs a \(isUser ? "group" : "token") with the scope \(scopes.joined(separator: " or ")).",
      headerFields: [
        .wwwAuthenticate: challenge(error: "insufficient_scope", scope: scopes.first)
      ])
  }

  /// 403: the token is limited to other `what`, such as reports.
  package static func outsideLimits(_ what: String) -> HTTPProblem {
    HTTPProblem(.outsideLimits, detail: "The token is limited to other \(what).")
  }

  /// 400: a token in a URL is exposed in logs, histories and to other sites (RFC 6750 §5.3).
  package static var tokenInURL: HTTPProblem {
    HTTPProblem(
      .tokenInURL, detail: "Send it as ‘Authorization: Bearer …’, and revoke the one that was in the URL.")
  }

  /// 403: the request was made by a page of another site.
  package static var crossSite: HTTPProblem {
    HTTPProblem(
      .crossSite,
      detail: "The browser states that a page of another site made the request. Nothing was changed.")
  }

  /// 403: the proxy named the user, and the request does not state that a page of this server sent it.
  static var notOwnPage: HTTPProblem {
    HTTPProblem(
      .crossSite,
      detail: """
        Users who have signed in at a proxy change something only on the pages of this server. Programs need a token. \
        Nothing was changed.
        """)
  }

  /// 403: only a proxy may state a user, and the request is not from it.
  static var userNotTrusted: HTTPProblem {
    HTTPProblem(
      .userNotTrusted,
      detail: "Leave the field out. The attempt was recorded.")
  }

  /// 400: the proxy states a user in a way that can't be right, which `detail` describes.
  static func malformedUser(_ detail: String) -> HTTPProblem { HTTPProblem(.malformedUser, detail: detail) }

  /// 403: the form was not created by this server for this browser.
  package static var staleForm: HTTPProblem {
    HTTPProblem(
      .staleForm,
      detail: "Nothing was changed. Reload the page and send the form again. Cookies must be enabled.")
  }

  /// 403: a token was entered on a page without TLS.
  package static var signInNeedsTLS: HTTPProblem {
    HTTPProblem(
      .signInNeedsTLS,
      detail: """
        This page was opened without TLS: others could read the token, and browsers store no session. Open it as \
        https://… through a proxy, or on the server's own machine. Revoke the token.
        """)
  }

  /// 401: the session has ended, and the user must sign in again.
  static var sessionEnded: HTTPProblem {
    unauthorized(
      .sessionEnded,
      detail: "The session was idle for too long, the server was restarted, or the token is no longer valid.")
  }

  /// 421: the host name in the request could belong to an attacker (RFC 9110 §15.5.20).
  static var foreignName: HTTPProblem {
    HTTPProblem(
      .foreignName,
      detail: """
        While no tokens are required, the server responds only under an IP address, localhost, a name without a dot, \
        or one that ends with .local. Create a token with `snapshot token create`, or use --insecure.
        """)
  }

  /// 421: the server has one user, and the host name in the request is not one of this machine.
  static var notThisMachine: HTTPProblem {
    HTTPProblem(.foreignName, detail: "This server responds only as 127.0.0.1, [::1] or localhost.")
  }

  /// 429: a rate limit is exceeded (RFC 6585 §4).
  static func tooManyRequests(_ verdict: TokenBucket.Verdict, of name: String) -> HTTPProblem {
    var fields = verdict.fields(name)
    fields[.retryAfter] = String(max(verdict.secondsUntilEnough, 1))
    return HTTPProblem(
      .rateLimited,
      detail:
        "The limit per \(name) is \(verdict.allowance.amount) requests in \(verdict.allowance.seconds) seconds.",
      headerFields: fields)
  }

  /// 429: an upload quota is exceeded.
  static func tooManyBytes(_ verdict: TokenBucket.Verdict, of name: String) -> HTTPProblem {
    var fields = verdict.fields(name, unit: "content-bytes")
    fields[.retryAfter] = String(max(verdict.secondsUntilEnough, 1))
    return HTTPProblem(
      .uploadQuotaExceeded,
      detail: """
        The limit per \(name) is \(verdict.allowance.amount) bytes in \(verdict.allowance.seconds) seconds.
        """,
      headerFields: fields)
  }

  /// 429: clients at this address have sent too many wrong tokens.
  static func tooManyWrongTokens(retryAfter seconds: Int) -> HTTPProblem {
    HTTPProblem(
      .tooManyWrongTokens,
      detail: "Too many invalid tokens were sent from this address. Valid tokens are still accepted.",
      headerFields: [.retryAfter: String(seconds)])
  }

  /// 503: the tokens can't be read.
  static var accessUnavailable: HTTPProblem {
    HTTPProblem(
      .accessUnavailable, detail: "All callers are refused until it can. The server's log has the reason.",
      headerFields: [.retryAfter: "30"])
  }

  /// 403: the call concerns all snapshots, and the caller is limited to some.
  static var limitedCaller: HTTPProblem {
    HTTPProblem(.callerLimited, detail: "This call concerns all snapshots and needs a token without limits.")
  }

  /// 413: the body is larger than `limit` bytes.
  package static func tooLarge(limit: Int64) -> HTTPProblem {
    HTTPProblem(
      .contentTooLarge, detail: "The server accepts at most \(limit) bytes here. Nothing was stored.")
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
  /// Returns the fields that describe the remaining quota of one `name`, such as `token`.
  func fields(_ name: String, unit: String? = nil) -> HTTPFields {
    let field = RateLimitField(
      name: name, quota: allowance.amount, window: allowance.seconds, unit: unit,
      remaining: remaining, reset: secondsUntilFull)
    return [.rateLimitPolicy: field.policy, .rateLimit: field.fieldValue]
  }
}
