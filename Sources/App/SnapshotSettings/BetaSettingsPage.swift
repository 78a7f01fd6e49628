import DataSnapshots
import Foundation
public import HTTPEngine
import HTTPTypes
import SnapshotFormat

/// An HTTP handler that serves the settings as a web page. ``BetaSettingsServer`` runs it.
///
/// The page works without JavaScript: each form is answered by a redirect or, if its input is invalid, by the page with
/// the reason beside the field. With JavaScript the page refreshes its contents. It loads nothing from other hosts,
/// browsers do not cache it, and it is accessible only with a session that a one-time link starts.
public struct BetaSettingsPage: HTTPHandler {
  private let settings: BetaSettings
  private let access = PageAccess()
  private let title: String

  /// Creates a page for `settings` with `title` as its heading.
  public init(_ settings: BetaSettings, title: String = "Beta Settings") {
    self.settings = settings
    self.title = title
  }

  /// Returns a new one-time token for the query parameter `token` of a link to `/`. It starts a session in one browser.
  public func makeToken() -> String { access.makeToken() }

  /// Responds to one request.
  public func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
    var response: HTTPServerResponse
    do {
      guard PageAccess.isForLoopback(request) else {
        throw Refusal(.misdirectedRequest, "Wrong address", "Open this page at 127.0.0.1 or localhost.")
      }
      response = try await answer(request)
    } catch let refusal as Refusal {
      response = page(refusal)
    } catch let problem as HTTPProblem {
      response = page(Refusal(problem.status, problem.title, problem.detail))
      response.headerFields.append(contentsOf: problem.headerFields)
    }
    for (name, value) in Self.fields { response.headerFields[name] = value }
    return response
  }

  /// A request that is answered by an error page.
  struct Refusal: Error {
    let status: HTTPResponse.Status
    let title: String
    let detail: String

    init(_ status: HTTPResponse.Status, _ title: String, _ detail: String) {
      (self.status, self.title, self.detail) = (status, title, detail)
    }
  }

  private func answer(_ request: HTTPServerRequest) async throws -> HTTPServerResponse {
    let isRead = request.method == .get || request.method == .head
    switch request.path {
    case "/page.css" where isRead: return asset(PageAssets.stylesheet, "text/css; charset=utf-8")
    case "/page.js" where isRead: return asset(PageAssets.script, "text/javascript; charset=utf-8")
    case "/" where isRead:
      if let token = try QueryParameters(request.query).value("token") {
        return try enter(with: token, request)
      }
      try demandAccess(request)
      return document(try await content(), status: .ok)
    default:
      guard let action = PageAction(path: request.path) else { throw HTTPProblem.noSuchPath() }
      try demandAccess(request)
      guard request.method == .post else {
        if isRead { return Self.seeOther("/") }
        throw HTTPProblem.methodNotAllowed(request.method, allowed: "POST")
      }
      guard PageAccess.isFromOwnPage(request) else {
        throw Refusal(
          .forbidden, "Request from another site",
          "Another page tried to use the settings. Nothing was changed.")
      }
      return try await perform(action, PageForm(request))
    }
  }

  private func perform(_ action: PageAction, _ form: PageForm) async throws -> HTTPServerResponse {
    do {
      try await action.perform(on: settings, form)
      return Self.seeOther("/#outcome")
    } catch {
      let text = action.field.map { form[$0] } ?? ""
      let content = try await content(
        mistake: PageContent.Mistake(
          action: action, text: text, note: form["note"], reason: error.description))
      return document(content, status: .unprocessableContent)
    }
  }

  private func content(mistake: PageContent.Mistake? = nil) async throws -> PageContent {
    PageContent(title: title, overview: await settings.overview(), mistake: mistake)
  }

  // MARK: - Access

  /// Starts a session. The response refreshes to the page instead of redirecting: a browser does not send the
  /// `SameSite=Strict` cookie with a redirect that began on another site, such as a chat that contains the link.
  private func enter(with token: String, _ request: HTTPServerRequest) throws -> HTTPServerResponse {
    if access.admits(request) { return Self.seeOther("/") }
    // Only for a `GET` with a valid token. A `HEAD` request, for example of a link preview, must not use up the token.
    guard request.method == .get, let cookie = access.exchange(token) else { throw Self.noAccess }
    var response = html(PageContent.entrance(title: title), status: .ok)
    response.headerFields[.setCookie] = cookie
    return response
  }

  private func demandAccess(_ request: HTTPServerRequest) throws {
    guard access.admits(request) else { throw Self.noAccess }
  }

  private static let noAccess = Refusal(
    .forbidden, "This page is not accessible",
    "Each link works once, in one browser. Get a new link from the app and open that one.")

  // MARK: - Answers

  private func document(_ content: PageContent, status: HTTPResponse.Status) -> HTTPServerResponse {
    html(content.document, status: status)
  }

  private func page(_ refusal: Refusal) -> HTTPServerResponse {
    html(
      PageContent.message(title: refusal.title, text: refusal.detail, of: title), status: refusal.status)
  }

  private func html(_ html: HTML, status: HTTPResponse.Status) -> HTTPServerResponse {
    HTTPServerResponse(
      status: status, headerFields: [.contentType: "text/html; charset=utf-8"],
      body: .bytes(Array(html.description.utf8)))
  }

  private func asset(_ text: String, _ type: String) -> HTTPServerResponse {
    HTTPServerResponse(status: .ok, headerFields: [.contentType: type], body: .bytes(Array(text.utf8)))
  }

  private static func seeOther(_ path: String) -> HTTPServerResponse {
    HTTPServerResponse(status: .seeOther, headerFields: [.location: path])
  }

  private static let fields: [(HTTPField.Name, String)] = [
    (
      "Content-Security-Policy",
      """
      default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; \
      form-action 'self'; base-uri 'none'; frame-ancestors 'none'
      """
    ),
    ("Cache-Control", "no-store"),
    ("X-Content-Type-Options", "nosniff"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    // With `no-referrer`, browsers send forms with the `Origin` `null`.
    ("Referrer-Policy", "same-origin"),
  ].compactMap { name, value in HTTPField.Name(name).map { ($0, value) } }
}
