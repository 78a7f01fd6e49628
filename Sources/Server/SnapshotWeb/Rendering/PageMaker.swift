import AccessControl
import Dispatch
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotAPI
import SnapshotStore
import SystemIO

/// Renders pages for visitors, and reads the forms that the pages send.
struct PageMaker: Sendable {
  private static let renderer = Result { try PageRenderer() }

  private let access: AccessPolicy
  private let tracker: IssueTracker

  init(_ access: AccessPolicy, tracker: IssueTracker = IssueTracker()) {
    self.access = access
    self.tracker = tracker
  }

  /// Renders `page` for `visitor`.
  /// - Parameter basePath: the path below which the browser sees the server; `nil` if the visitor is known.
  func render(
    _ page: some Page, for visitor: Visitor?, below basePath: String? = nil,
    status: HTTPResponse.Status = .ok, notice: PageNotice? = nil
  ) async throws -> HTTPServerResponse {
    try await render(visitor, below: basePath, status: status, notice: notice) { $0.render(page, in: $1) }
  }

  /// Renders a page that is made meanwhile, for `visitor`.
  /// - Parameters:
  ///   - basePath: the path below which the browser sees the server; `nil` if the visitor is known.
  ///   - queue: the queue that renders. Slow pages have their own, so that a diff doesn't delay lists.
  func render(
    _ visitor: Visitor?, below basePath: String? = nil, status: HTTPResponse.Status = .ok,
    notice: PageNotice? = nil, on queue: DispatchQueue? = nil,
    _ body: @escaping @Sendable (PageRenderer, PageFrame) throws -> [UInt8]
  ) async throws -> HTTPServerResponse {
    var frame = PageFrame(account: visitor?.shown ?? .signedOut, notice: notice, tracker: tracker)
    frame.basePath = basePath ?? visitor?.basePath ?? ""
    frame.hasOneUser = access.signInLink != nil
    frame.formToken = visitor.map(access.formToken)
    let complete = frame
    let html = try await (queue ?? ServerQueues.shared.pages.next).perform { () throws(any Error) in
      try body(Self.renderer.get(), complete)
    }
    var response = HTTPServerResponse.page(html, status: status)
    if let cookie = visitor?.newCookie {
      response.headerFields.append(HTTPField(name: .setCookie, value: cookie))
    }
    response.addPageFields()
    return response
  }

  /// Returns the submitted form, after checking that it comes from a page of this server for this browser. Calls `look`
  /// with the form before the check of its token, so also if the form is refused.
  /// - Parameter limit: the maximum size of the form, in bytes.
  func form(
    of call: PageCall, limit: Int64 = FormFields.limit, _ look: (FormFields) throws -> Void = { _ in }
  ) async throws -> FormFields {
    try requireOwnPage(call)
    let form = try await FormFields(call.request, limit: limit)
    try look(form)
    try requireGenuine(form[.formToken], call)
    return form
  }

  /// Throws a problem unless a page of this server sent the request.
  func requireOwnPage(_ call: PageCall) throws(HTTPProblem) {
    guard CrossSiteRule.comesFromOwnPage(call.request) else { throw HTTPProblem.crossSite }
  }

  /// Throws a problem unless `token` is from a form that was created for the visitor.
  func requireGenuine(_ token: String, _ call: PageCall) throws(HTTPProblem) {
    guard access.isGenuine(token, for: call.visitor) else {
      // Except on loopback, browsers don't store our cookies without TLS.
      let origin = call.request.headerFields[.origin]?.lowercased() ?? ""
      let isPlain = origin.hasPrefix("http:") && !PageOrigin.isLoopback(call.request.authority.lowercased())
      if isPlain, case .signedOut = call.visitor.account { throw HTTPProblem.signInNeedsTLS }
      throw HTTPProblem.staleForm
    }
  }
}

extension Visitor {
  /// The visitor as pages name them.
  fileprivate var shown: PageFrame.Account {
    switch account {
    case .open: .open
    case .signedOut: .signedOut
    case .signedIn(let token): .signedIn(name: token.name ?? token.id)
    case .user(let name): .user(name: name)
    }
  }
}
