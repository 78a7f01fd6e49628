package import AccessControl
import Dispatch
package import HTTPEngine
import HTTPSemantics
import HTTPTypes
package import Logging
package import SnapshotAPI
import SnapshotFormat
import SnapshotStore
import SystemIO

/// The web pages: a face of the service for people, beside the API.
///
/// Whoever may not see a page gets the form to sign in; whatever goes wrong is told in HTML. All that a page needs from
/// a bundle is read and made into HTML on queues of their own, so that no event loop waits, and no more than a few pages
/// are in memory at once.
package struct WebPages: Sendable {
  let service: SnapshotService
  let access: AccessPolicy
  let limits: ServiceLimits
  let logger: Logger

  /// The pages of `service`, for visitors that `access` admits.
  package init(service: SnapshotService, access: AccessPolicy, limits: ServiceLimits, logger: Logger) {
    self.service = service
    self.access = access
    self.limits = limits
    self.logger = logger
  }

  /// Every page, and every form's action.
  package var endpoints: [Endpoint] { lists + snapshots + changes + signing }

  /// Where pages are made: what takes long has a queue of its own, so that a diff holds up no list.
  static let queue = DispatchQueue(label: "snapshot-server.pages", qos: .userInitiated)
  static let readers = QueueSet("snapshot-server.page-readers", count: 2)

  private static let renderer = Result { try PageRenderer() }

  /// The page that tells a problem, or, where signing in helps, has the form for that.
  func answer(
    to problem: HTTPProblem, of request: HTTPServerRequest, _ visitor: Visitor?, next: LocalPath
  ) async throws -> HTTPServerResponse {
    var response: HTTPServerResponse
    if case .signedOut = visitor?.account, let page = SignInPage(problem, next: next) {
      response = try await render(visitor, status: problem.status) { $0.render(page, in: $1) }
    } else {
      let page = ProblemPage(
        status: problem.status.code, title: problem.title, detail: problem.detail, requestID: request.id)
      response = try await render(visitor, status: problem.status) { $0.render(page, in: $1) }
    }
    for field in problem.headerFields { response.headerFields[field.name] = field.value }
    return response
  }

  /// The page that tells a problem of a request that belongs to no page.
  package func answer(to problem: HTTPProblem, of request: HTTPServerRequest) async throws
    -> HTTPServerResponse
  {
    let visitor: Visitor?
    // Who may not even look at pages is told of the problem all the same.
    do { visitor = try await access.visitor(request) } catch { visitor = nil }
    return try await answer(to: problem, of: request, visitor, next: .home)
  }

  /// Makes a page for `visitor`.
  func render(
    _ visitor: Visitor?, status: HTTPResponse.Status = .ok, notice: PageNotice? = nil,
    on queue: DispatchQueue = WebPages.queue,
    _ body: @escaping @Sendable (PageRenderer, PageFrame) throws -> [UInt8]
  ) async throws -> HTTPServerResponse {
    var frame = PageFrame(account: visitor?.shown ?? .signedOut, notice: notice)
    frame.formToken = visitor.map(access.formToken)
    let complete = frame
    let html = try await queue.perform { () throws(any Error) in
      try body(Self.renderer.get(), complete)
    }
    var response = HTTPServerResponse.page(html, status: status)
    if let cookie = visitor?.newCookie {
      response.headerFields.append(HTTPField(name: .setCookie, value: cookie))
    }
    response.addPageFields()
    return response
  }

  /// What whoever followed a link of another site gets: a page that opens the one they wanted once more by itself, so
  /// that the browser sends its cookies along.
  static let entrance: HTTPServerResponse = {
    let html = """
      <!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0">
      <meta name="color-scheme" content="light dark"><title>Data Snapshots</title></head>
      <body><p>One moment …</p></body></html>
      """
    var response = HTTPServerResponse.page(Array(html.utf8))
    response.addPageFields()
    return response
  }()
}

extension Visitor {
  /// The visitor as pages name them.
  var shown: PageFrame.Account {
    switch account {
    case .open: .open
    case .signedOut: .signedOut
    case .signedIn(let token): .signedIn(name: token.name ?? token.id)
    }
  }
}
