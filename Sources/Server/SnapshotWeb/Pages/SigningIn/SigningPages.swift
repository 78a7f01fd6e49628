import AccessControl
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotAPI

/// The pages and forms that sign visitors in and out.
struct SigningPages: Sendable {
  private let pages: PageMaker
  private let access: AccessPolicy

  init(_ pages: PageMaker, access: AccessPolicy) {
    self.pages = pages
    self.access = access
  }

  /// All endpoints.
  var endpoints: [Endpoint] {
    guard access.signInLink == nil else {
      return [.page(unaudited: "followSignInLink", "/sign-in/{secret}", handler: followLink)]
    }
    return [
      .page(unaudited: "openSignIn", "/sign-in", handler: openSignIn),
      .page(.signIn, .post, "/sign-in", .open, handler: signIn),
      .page(.signOut, .post, "/sign-out", .open, handler: signOut),
    ]
  }

  private func openSignIn(_ call: PageCall) async throws -> HTTPServerResponse {
    let query = try call.routed.query()
    // A token in a URL is already in the browser's history and in logs.
    guard query.pairs.allSatisfy({ $0.name != PageField.token.rawValue }) else {
      throw HTTPProblem.tokenInURL
    }
    let next = try query.value(PageField.next.rawValue).flatMap { LocalPath($0) } ?? .home
    guard case .signedOut = call.visitor.account else { return .seeOther(next.description) }
    return try await pages.render(SignInPage(next: next.description), for: call.visitor)
  }

  private func signIn(_ call: PageCall) async throws -> HTTPServerResponse {
    let form = try await pages.form(of: call) { form in
      let next = try LocalPath(form[.next]) ?? .home
      call.progress.update { $0.next = next }
    }
    let next = call.progress.state.next ?? .home
    switch call.visitor.account {
    case .open, .user: return .seeOther(next.description)
    case .signedOut, .signedIn: break
    }
    let cookie = try await access.signIn(form[.token], call.request)
    var response = HTTPServerResponse.seeOther(next.description)
    response.headerFields[.setCookie] = cookie
    response.addPageFields()
    return response
  }

  private func followLink(_ call: PageCall) async throws -> HTTPServerResponse {
    let next = try call.query([PageField.next.rawValue]).value(PageField.next.rawValue)
    var response = HTTPServerResponse.seeOther((next.flatMap { LocalPath($0) } ?? .home).description)
    // A browser that restores its tabs follows the link again.
    if case .signedIn = call.visitor.account { return response }
    // Programs that only examine links send HEAD.
    guard call.request.method == .get else { return response }
    let secret = try call.value(of: PathParameter("secret") { $0 })
    response.headerFields[.setCookie] = try await access.signIn(by: secret, call.request)
    return response
  }

  private func signOut(_ call: PageCall) async throws -> HTTPServerResponse {
    _ = try await pages.form(of: call)
    // The proxy would sign the user in again.
    if case .user = call.visitor.account { return .seeOther(LocalPath.home.description) }
    let cookies = try await access.signOut(call.visitor)
    var response = try await pages.render(SignedOutPage(), for: nil, below: call.request.basePath)
    for cookie in cookies { response.headerFields.append(HTTPField(name: .setCookie, value: cookie)) }
    return response
  }
}

extension SignInPage {
  /// Creates the form that is shown instead of a page that needs a session, or after a refused token. Returns `nil` if
  /// signing in doesn't help.
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
