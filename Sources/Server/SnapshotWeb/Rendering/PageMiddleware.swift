import AccessControl
package import HTTPEngine
import HTTPTypes
package import SnapshotAPI

/// Renders problems of pages as HTML, or as the form for signing in if that helps, and adds the header fields that all
/// pages have. The script of a page asks for problems as JSON.
package struct PageMiddleware: Middleware {
  let web: WebPages

  /// Creates a middleware that shows problems as pages of `web`.
  package init(web: WebPages) {
    self.web = web
  }

  package func respond(
    to routed: RoutedRequest, next: Responder<RoutedRequest>
  ) async throws -> HTTPServerResponse {
    let request = routed.request
    // This response discloses nothing, so it is sent before the audit log, which is further inside, records the
    // request.
    if request.isFollowedFromAnotherSite { return WebPages.entrance }
    let progress = PageProgress()
    var response: HTTPServerResponse
    do {
      response = try await PageProgress.$current.withValue(progress) { try await next(routed) }
      response.addPageFields()
    } catch {
      guard var problem = SnapshotProblem.answer(to: error) else { throw error }
      web.logger.logInternal(error, of: request)
      let state = progress.state
      if request.accepts("application/problem+json"), !request.acceptsHTML {
        for field in state.visitor?.caller.answerFields ?? [:] {
          problem.headerFields[field.name] = field.value
        }
        throw problem
      }
      response = try await web.answer(
        to: problem, of: request, state.visitor, next: state.next ?? LocalPath(after: routed))
    }
    for field in progress.state.visitor?.caller.answerFields ?? [:] {
      response.headerFields[field.name] = field.value
    }
    return response
  }
}
