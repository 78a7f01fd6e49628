import AccessControl
package import HTTPEngine
import HTTPTypes
package import SnapshotAPI

/// Answers problems of a page in HTML, by the form to sign in where that helps, and gives pages the fields that all have.
package struct PageMiddleware: Middleware {
  let web: WebPages

  /// Shows problems as pages of `web`.
  package init(web: WebPages) {
    self.web = web
  }

  package func respond(to routed: RoutedRequest, next: Responder<RoutedRequest>) async throws
    -> HTTPServerResponse
  {
    let request = routed.request
    // This reveals nothing, so the audit log, which is further inside, does not record it.
    if request.isFollowedFromAnotherSite { return WebPages.entrance }
    let progress = PageProgress()
    var response: HTTPServerResponse
    do {
      response = try await PageProgress.$current.withValue(progress) { try await next(routed) }
      response.addPageFields()
    } catch {
      guard let problem = SnapshotProblem.answer(to: error) else { throw error }
      web.logger.logInternal(error, of: request)
      let state = progress.state
      response = try await web.answer(
        to: problem, of: request, state.visitor, next: state.next ?? LocalPath(after: routed))
    }
    for field in progress.state.visitor?.caller.answerFields ?? [:] {
      response.headerFields[field.name] = field.value
    }
    return response
  }
}
