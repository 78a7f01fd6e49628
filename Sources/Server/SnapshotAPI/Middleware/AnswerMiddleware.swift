package import HTTPEngine
import HTTPSemantics
import HTTPTypes
package import Logging
import Observability

/// Converts errors to problems, or to HTML pages for browsers, and adds the header fields that all responses have.
package final class AnswerMiddleware: Middleware {
  /// Renders the page that shows a problem.
  package typealias ProblemPage =
    @Sendable (HTTPProblem, HTTPServerRequest) async throws -> HTTPServerResponse

  private let page: ProblemPage
  private let logger: Logger

  /// Creates a middleware that renders problems for browsers with `page`.
  package init(page: @escaping ProblemPage, logger: Logger) {
    self.page = page
    self.logger = logger
  }

  package func respond(
    to request: HTTPServerRequest, next: Responder<HTTPServerRequest>
  ) async throws -> HTTPServerResponse {
    do {
      return Self.finished(Self.applyingCondition(to: try await next(request), request), request)
    } catch {
      logger.logInternal(error, of: request)
      guard var problem = SnapshotProblem.answer(to: error) else { throw SnapshotProblem.brokenBody(error) }
      guard isFromBrowser(request) else {
        problem.headerFields[.xContentTypeOptions] = "nosniff"
        throw problem
      }
      return Self.finished(try await page(problem, request), request)
    }
  }

  /// Adds the header fields that all responses have, and that no handler sets.
  private static func finished(
    _ response: HTTPServerResponse, _ request: HTTPServerRequest
  ) -> HTTPServerResponse {
    var response = response
    response.addedFields = [noSniffing, HTTPField(name: .xRequestID, value: request.id)]
    return response
  }

  private static let noSniffing = HTTPField(name: .xContentTypeOptions, value: "nosniff")

  /// Whether a browser requests a path that neither the API nor a page has.
  private func isFromBrowser(_ request: HTTPServerRequest) -> Bool {
    request.context?.route == nil && !request.path.hasPrefix("/v1") && request.acceptsHTML
  }

  /// Applies `If-None-Match: *`, which fails if there is any content. It also applies to responses without validators
  /// (RFC 9110 §13.1.2).
  private static func applyingCondition(
    to response: HTTPServerResponse, _ request: HTTPServerRequest
  ) -> HTTPServerResponse {
    let preconditions = Preconditions(request.headerFields)
    guard preconditions.isCreateOnly, response.status == .ok,
      request.method == .get || request.method == .head,
      preconditions.verdict(request.method, on: .init()) == .notModified
    else { return response }
    let kept = [HTTPField.Name.cacheControl, .contentLocation, .eTag, .expires, .lastModified, .vary]
    return HTTPServerResponse(
      status: .notModified, headerFields: HTTPFields(response.headerFields.filter { kept.contains($0.name) }))
  }
}

extension Logger {
  /// Logs `error` if the server caused it.
  package func logInternal(_ error: any Error, of request: HTTPServerRequest) {
    guard SnapshotProblem.isInternal(error) else { return }
    self.error(
      "A request failed",
      metadata: ["request": "\(request.id)", "method": "\(request.method)", "error": "\(error)"])
  }
}

extension HTTPServerRequest {
  /// Whether the client accepts HTML explicitly, as only browsers do.
  package var acceptsHTML: Bool { accepts("text/html") }

  /// Whether the client names the media type `type` among those that it accepts.
  package func accepts(_ type: String) -> Bool {
    headerFields[values: .accept].flatMap { $0.split(separator: ",") }.contains { range in
      let parts = range.split(separator: ";").map { $0.filter { $0 != " " }.lowercased() }
      return parts.first == type
        && !parts.dropFirst().contains { $0.wholeMatch(of: /q=0(\.0*)?/) != nil }
    }
  }
}
