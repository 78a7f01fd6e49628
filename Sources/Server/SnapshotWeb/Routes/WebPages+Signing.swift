import AccessControl
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotAPI

extension WebPages {
  /// Signing in and out.
  var signing: [Endpoint] {
    [
      .page("openSignIn", .get, "/sign-in", .open, audited: .never, handler: openSignIn),
      .page("signIn", .post, "/sign-in", .open, handler: signIn),
      .page("signOut", .post, "/sign-out", .open, handler: signOut),
    ]
  }

  private func openSignIn(_ call: PageCall) async throws -> HTTPServerResponse {
    let query = try call.routed.query()
    // A token in an address is in the browser's history and in logs by now.
    guard query.pairs.allSatisfy({ $0.name != PageField.token.rawValue }) else {
      throw HTTPProblem.tokenInURL
    }
    let next = try query.value(PageField.next.rawValue).flatMap { LocalPath($0) } ?? .home
    guard case .signedOut = call.visitor.account else { return .seeOther(next.description) }
    return try await render(call.visitor) { $0.render(SignInPage(next: next.description), in: $1) }
  }

  private func signIn(_ call: PageCall) async throws -> HTTPServerResponse {
    let form = try await form(of: call) { form in
      let next = try LocalPath(form[.next]) ?? .home
      call.progress.update { $0.next = next }
    }
    let next = call.progress.state.next ?? .home
    if case .open = call.visitor.account { return .seeOther(next.description) }
    let cookie = try await access.signIn(form[.token], call.request)
    var response = HTTPServerResponse.seeOther(next.description)
    response.headerFields[.setCookie] = cookie
    response.addPageFields()
    return response
  }

  private func signOut(_ call: PageCall) async throws -> HTTPServerResponse {
    _ = try await form(of: call)
    let cookies = access.signOut(call.visitor)
    var response = try await render(nil) { $0.render(SignedOutPage(), in: $1) }
    for cookie in cookies { response.headerFields.append(HTTPField(name: .setCookie, value: cookie)) }
    return response
  }

  /// The form that was sent, if a page of this server sent it, and made it for this browser; `look` sees it even where
  /// it is refused then.
  func form(
    of call: PageCall, _ look: (FormFields) throws -> Void = { _ in }
  ) async throws -> FormFields {
    guard CrossSiteRule.comesFromOwnPage(call.request) else { throw HTTPProblem.crossSite }
    let form = try await FormFields(call.request)
    try look(form)
    guard try access.isGenuine(form[.formToken], for: call.visitor) else {
      // Browsers drop what we have them keep beyond loopback, where they came without TLS.
      let origin = call.request.headerFields[.origin]?.lowercased() ?? ""
      let isPlain = origin.hasPrefix("http:") && !PageOrigin.isLoopback(call.request.authority.lowercased())
      if isPlain, case .signedOut = call.visitor.account { throw HTTPProblem.signInNeedsTLS }
      throw HTTPProblem.staleForm
    }
    return form
  }
}

extension SignInPage {
  /// The form that comes in place of what needs signing in, or that was refused; `nil` where signing in won't help.
  init?(_ problem: HTTPProblem, next: LocalPath) {
    switch ProblemKind(problem) {
    case .tokenNeeded: self.init(next: next.description, reason: "Sign in to see this.")
    case .sessionEnded: self.init(next: next.description, reason: "Sign in again: your session has ended.")
    case .tokenRefused, .tokenExpired, .notPermitted, .tooManyWrongTokens:
      self.init(next: next.description, reason: problem.detail, isMistake: true)
    default: return nil
    }
  }
}
