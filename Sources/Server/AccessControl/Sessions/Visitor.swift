package import HTTPEngine
import HTTPTypes
import Observability

/// Who looks at a web page.
///
/// Pages are opened by a session alone: a token in `Authorization` counts for nothing there, and the cookie for nothing
/// anywhere else, so that neither can be made to do what the other may.
package struct Visitor: Sendable {
  package enum Account: Sendable {
    /// Anybody: the store has no tokens.
    case open
    /// Nobody who is known; `hadSession` where the browser thinks otherwise.
    case signedOut(hadSession: Bool)
    /// Who has signed in with this token.
    case signedIn(AccessToken)
  }

  package let account: Account
  /// What may be done.
  package let caller: Caller
  /// The cookies of the request.
  let cookies: PageCookies
  /// What forms are bound to: the secret in a cookie of the browser's.
  let anchor: String
  /// What the answer has the browser keep, where it had nothing that forms could be bound to.
  package let newCookie: String?

  init(_ account: Account, _ caller: Caller, _ cookies: PageCookies) {
    self.account = account
    self.caller = caller
    self.cookies = cookies
    if case .signedIn = account, let secret = cookies[.session] {
      (anchor, newCookie) = (secret, nil)
    } else if let secret = cookies[.visitor] {
      (anchor, newCookie) = (secret, nil)
    } else {
      anchor = RandomSecret.make()
      newCookie = cookies.setting(.visitor, to: anchor)
    }
  }

  /// Throws the problem that says why a page which needs `permission` is not for the visitor.
  package func require(_ permission: Permission) throws(HTTPProblem) {
    switch account {
    case _ where permission == .open: return
    case .signedOut(let hadSession):
      throw hadSession ? HTTPProblem.sessionEnded : HTTPProblem.tokenNeeded
    case .open, .signedIn:
      guard caller.may(permission) else { throw HTTPProblem.notPermitted(permission) }
    }
  }
}

extension AccessPolicy {
  /// Who makes `request`, which is for a web page; throws an ``HTTPProblem`` where it is not to be answered at all.
  package func visitor(_ request: HTTPServerRequest) async throws -> Visitor {
    let address = ClientAddress(peer: request.peer)
    guard let authenticator else {
      return Visitor(.open, Caller.anybody(at: address), PageCookies(request, isOpen: true))
    }
    return try await authenticator.visitor(request, address)
  }

  /// Begins a session by the token that was pasted, and gives the cookie for it.
  package func signIn(_ text: String, _ request: HTTPServerRequest) async throws -> String {
    guard let authenticator else { throw HTTPProblem.tokenRefused }
    return try await authenticator.signIn(text, request, ClientAddress(peer: request.peer))
  }

  /// Ends the visitor's session, and gives the cookies that are to be forgotten.
  package func signOut(_ visitor: Visitor) -> [String] {
    if let secret = visitor.cookies[.session] { authenticator?.sessions.end(secret) }
    return [visitor.cookies.clearing(.session), visitor.cookies.clearing(.visitor)]
  }

  /// The token of a form that is made for the visitor.
  package func formToken(for visitor: Visitor) -> String { forms.token(for: visitor.anchor) }

  /// Whether `token` came in a form that was made for the visitor.
  package func isGenuine(_ token: String, for visitor: Visitor) -> Bool {
    visitor.newCookie == nil && forms.isGenuine(token, for: visitor.anchor)
  }
}

extension TokenAuthenticator {
  /// Who makes `request`, which is for a web page.
  fileprivate func visitor(_ request: HTTPServerRequest, _ address: ClientAddress) async throws -> Visitor {
    let known = try await currentTokens()
    if isOpen(known) {
      return Visitor(.open, try admitAnybody(request, address), PageCookies(request, isOpen: true))
    }
    try count(address)
    let cookies = PageCookies(request, isOpen: false)
    let nobody = Caller(.none, scopes: [], address: address.description)
    guard let secret = cookies[.session] else {
      return Visitor(.signedOut(hadSession: false), nobody, cookies)
    }
    // As soon as the token is not taken any more, its sessions are none.
    guard let id = sessions.token(of: secret), let token = known.token(id: id),
      token.state(at: clock.now()) == .valid
    else {
      sessions.end(secret)
      return Visitor(.signedOut(hadSession: true), nobody, cookies)
    }
    request.record(token: token.id)
    let caller = try count(token, address)
    register(request, token)
    return Visitor(.signedIn(token), caller, cookies)
  }

  /// Begins a session of the token in `text`, in place of the one that there may be.
  fileprivate func signIn(
    _ text: String, _ request: HTTPServerRequest, _ address: ClientAddress
  ) async throws -> String {
    let cookies = PageCookies(request, isOpen: false)
    let token = try await identify(Authorization(pasted: text), request, try await currentTokens(), address)
    guard try count(token, address).may(.read) else { throw HTTPProblem.notPermitted(.read) }
    if let secret = cookies[.session] { sessions.end(secret) }
    return cookies.setting(.session, to: sessions.begin(token.id))
  }
}
