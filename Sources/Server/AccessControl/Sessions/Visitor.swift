package import HTTPEngine
import HTTPTypes
import Observability

/// The visitor of a web page.
///
/// Web pages accept only sessions and users whom a proxy names, and ignore tokens in `Authorization`; the API ignores the
/// session's cookie. So neither credential can be misused for the purpose of the other.
package struct Visitor: Sendable {
  package enum Account: Sendable {
    /// An anonymous visitor of a store that requires no tokens.
    case open
    /// A visitor without valid session. `hadSession` states whether the browser sent a session's cookie.
    case signedOut(hadSession: Bool)
    /// A visitor with a session of this token.
    case signedIn(AccessToken)
    /// A visitor who has signed in at a proxy as the user of this name.
    case user(String)
  }

  package let account: Account
  /// The visitor's rights.
  package let caller: Caller
  /// The cookies of the request.
  let cookies: PageCookies
  /// The path below which the visitor sees the server.
  package var basePath: String { cookies.path == "/" ? "" : cookies.path }
  /// The secret to which forms are bound, which is in one of the browser's cookies.
  let anchor: String
  /// The `Set-Cookie` value for the response, if the browser had no cookie to which forms can be bound.
  package let newCookie: String?

  init(_ account: Account, _ caller: Caller, _ cookies: PageCookies) {
    self.account = account
    self.caller = caller
    self.cookies = cookies
    if case .signedIn = account, let secret = cookies[.session] {
      (anchor, newCookie) = (secret, nil)
      return
    }
    let secret = cookies[.visitor] ?? RandomSecret.make()
    newCookie = cookies[.visitor] == nil ? cookies.setting(.visitor, to: secret) : nil
    // Another application below the same host can set a cookie that it knows. Its forms are those of another user.
    if case .user(let name) = account { anchor = "\(secret)\n\(name)" } else { anchor = secret }
  }

  /// Throws a problem if the visitor does not have `permission`.
  package func require(_ permission: Permission) throws(HTTPProblem) {
    switch account {
    case _ where permission == .open: return
    case .signedOut(let hadSession):
      throw hadSession ? HTTPProblem.sessionEnded : HTTPProblem.tokenNeeded
    case .open, .signedIn, .user:
      guard caller.may(permission) else {
        throw HTTPProblem.notPermitted(permission, isUser: caller.user != nil)
      }
    }
  }
}

extension AccessPolicy {
  /// Returns the visitor that sent `request` to a web page. Throws an ``HTTPProblem`` if the request is refused.
  package func visitor(_ request: HTTPServerRequest) async throws -> Visitor {
    let address = ClientAddress(peer: request.peer)
    guard let authenticator else {
      return Visitor(.open, Caller.anybody(at: address), PageCookies(request, isOpen: true))
    }
    return try await authenticator.visitor(request, address)
  }

  /// Starts a session with the pasted token and returns the value of `Set-Cookie`.
  package func signIn(_ text: String, _ request: HTTPServerRequest) async throws -> String {
    guard let authenticator else { throw HTTPProblem.tokenRefused }
    return try await authenticator.signIn(text, request, ClientAddress(peer: request.peer))
  }

  /// Ends the visitor's session and returns the `Set-Cookie` values that delete the cookies.
  package func signOut(_ visitor: Visitor) async throws(HTTPProblem) -> [String] {
    if let secret = visitor.cookies[.session] { try await authenticator?.sessions.end(secret) }
    return [visitor.cookies.clearing(.session), visitor.cookies.clearing(.visitor)]
  }

  /// Returns the token for forms that are created for the visitor.
  package func formToken(for visitor: Visitor) -> String { forms.token(for: visitor.anchor) }

  /// Whether `token` is from a form that was created for the visitor.
  package func isGenuine(_ token: String, for visitor: Visitor) -> Bool {
    visitor.newCookie == nil && forms.isGenuine(token, for: visitor.anchor)
  }
}

extension TokenAuthenticator {
  /// Returns the visitor that sent `request` to a web page.
  fileprivate func visitor(_ request: HTTPServerRequest, _ address: ClientAddress) async throws -> Visitor {
    let user = try user(of: request)
    let known = try await currentTokens()
    if isOpen(known) {
      return Visitor(.open, try admitAnybody(request, address), PageCookies(request, isOpen: true))
    }
    try count(address)
    let cookies = PageCookies(request, isOpen: false)
    if let user { return Visitor(.user(user.name), try count(user, request, address), cookies) }
    let nobody = Caller(.none, scopes: [], address: address)
    guard let secret = cookies[.session] else {
      return Visitor(.signedOut(hadSession: false), nobody, cookies)
    }
    // When a token becomes invalid, so do its sessions.
    guard let id = try await sessions.token(of: secret), let token = known.token(id: id),
      token.state(at: clock.now()) == .valid
    else {
      sessions.forget(secret)
      return Visitor(.signedOut(hadSession: true), nobody, cookies)
    }
    request.record(token: token.id)
    let caller = try count(token, address)
    register(request, token)
    return Visitor(.signedIn(token), caller, cookies)
  }

  /// Starts a session with the token in `text`, and ends the existing one.
  fileprivate func signIn(
    _ text: String, _ request: HTTPServerRequest, _ address: ClientAddress
  ) async throws -> String {
    let cookies = PageCookies(request, isOpen: false)
    let token = try await identify(Authorization(pasted: text), request, try await currentTokens(), address)
    guard try count(token, address).may(.read) else { throw HTTPProblem.notPermitted(.read) }
    if let secret = cookies[.session] { try await sessions.end(secret) }
    return cookies.setting(.session, to: try await sessions.begin(token.id))
  }
}
