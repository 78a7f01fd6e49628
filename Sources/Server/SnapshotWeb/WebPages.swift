package import AccessControl
package import HTTPEngine
import HTTPSemantics
import HTTPTypes
package import Logging
package import Observability
package import SnapshotAPI
package import SnapshotDiff
package import SnapshotFormat
package import SnapshotService
package import SnapshotViewer
package import Webhooks

/// The web pages: a user interface of the service beside the API.
///
/// A visitor who may not see a page gets the form for signing in. Problems are shown as HTML. Bundles are read and
/// rendered on separate queues, so that event loops are not blocked and only a few pages are in memory at once.
package struct WebPages: Sendable {
  let logger: Logger
  private let pages: PageMaker
  private let access: AccessPolicy

  /// The path of the documentation.
  package static let documentation = PagePath.documentation.description

  /// The path of the page that lists all snapshots.
  package static let home = PagePath.home().description

  /// The path of the page of a snapshot.
  package static func path(of id: SnapshotID) -> String { PagePath.snapshot(id).description }

  /// The path of the comparison of a snapshot with another one.
  package static func path(ofComparing id: SnapshotID, with other: SnapshotID) -> String {
    PagePath.diff(id, with: other).description
  }

  /// The path of `link`, which leads to the page at the path `next`.
  package static func path(of link: SignInLink, next: String) -> String {
    PagePath.signInLink(link.secret, next: next).description
  }

  /// The endpoints of all pages and forms.
  package let endpoints: [Endpoint]

  /// Creates the pages of `service`, for visitors that `access` admits.
  ///
  /// - Parameters:
  ///   - uploads: the calls for resumable uploads; empty if they are not offered.
  ///   - history: the actions on snapshots, which administrators can see.
  ///   - webhooks: the webhooks, which administrators can see; `nil` if the server never has any.
  ///   - tracker: the issue tracker to which pages link.
  ///   - comparisonFilter: the values that comparisons omit unless a visitor enters other rules.
  ///   - copies: the disk space for inflated copies of files that are shown.
  ///   - manual: the articles of the documentation.
  ///   - reference: returns the description of the API, which is made when its page is first requested.
  package init(
    service: SnapshotService, access: AccessPolicy, limits: ServiceLimits, uploads: [Endpoint] = [],
    history: AuditHistory? = nil, webhooks: Webhooks? = nil, tracker: IssueTracker = IssueTracker(),
    comparisonFilter: ComparisonFilter = ComparisonFilter(),
    copies: CopySpace, manual: Manual,
    reference: @escaping @Sendable () -> APIReference, logger: Logger
  ) {
    self.logger = logger
    self.access = access
    pages = PageMaker(access, tracker: tracker)
    let uploads = UploadPages(pages, service, limits: limits, calls: uploads)
    endpoints =
      ListPages(pages, service, access: access, limits: limits, webhooks: webhooks).endpoints
      + ReportPages(
        pages, service, limits: limits, uploadsAreResumable: uploads.areResumable, filter: comparisonFilter
      ).endpoints
      + AttachPages(
        pages, service, access: access, limits: limits, uploadsAreResumable: uploads.areResumable
      ).endpoints
      + SnapshotPages(
        pages, service, access: access, limits: limits, showsHistory: history != nil,
        viewer: ViewerCache(copies), filter: comparisonFilter
      ).endpoints
      + HistoryPages(pages, service, access: access, history).endpoints
      + DeletionPages(pages, service, limits: limits).endpoints
      + SearchPages(pages, service).endpoints
      + ComparisonPages(pages, service, filter: comparisonFilter).endpoints
      + uploads.endpoints
      + WebhookPages(pages, webhooks).endpoints
      + SigningPages(pages, access: access).endpoints
      + DocumentPages(pages, manual: manual, reference: reference).endpoints
  }

  /// Returns the page that shows `problem`, or the form for signing in if that solves it.
  func answer(
    to problem: HTTPProblem, of request: HTTPServerRequest, _ visitor: Visitor?, next: LocalPath
  ) async throws -> HTTPServerResponse {
    var response: HTTPServerResponse
    if access.signInLink != nil, let kind = ProblemKind(problem),
      [.tokenNeeded, .sessionEnded].contains(kind)
    {
      let page = ProblemPage(
        status: problem.status.code, title: "You are not signed in",
        detail: """
          Open the address that `snapshot view` has printed. It signs one browser in, once. If that was closed, or for \
          another browser, start `snapshot view` again.
          """)
      response = try await pages.render(
        page, for: visitor, below: request.basePath, status: problem.status)
    } else if case .signedOut = visitor?.account, let page = SignInPage(problem, next: next) {
      response = try await pages.render(
        page, for: visitor, below: request.basePath, status: problem.status)
    } else {
      let page = ProblemPage(
        status: problem.status.code, title: problem.title, detail: problem.detail, requestID: request.id)
      response = try await pages.render(
        page, for: visitor, below: request.basePath, status: problem.status)
    }
    for field in problem.headerFields { response.headerFields[field.name] = field.value }
    return response
  }

  /// Returns the page that shows `problem` for a request that matches no page.
  package func answer(to problem: HTTPProblem, of request: HTTPServerRequest) async throws
    -> HTTPServerResponse
  {
    let visitor: Visitor?
    // The problem is shown even to a visitor who is not admitted.
    do { visitor = try await access.visitor(request) } catch { visitor = nil }
    return try await answer(to: problem, of: request, visitor, next: .home)
  }

  /// The response to a visitor who followed a link on another site: a page that loads the requested page again, so that
  /// the browser sends its cookies.
  static let entrance: HTTPServerResponse = {
    let html = """
      <!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0">
      <meta name="color-scheme" content="light dark"><title>Data Snapshots</title></head>
      <body><p>Loading …</p></body></html>
      """
    var response = HTTPServerResponse.page(Array(html.utf8))
    response.addPageFields()
    return response
  }()
}
