import AccessControl
package import HTTPEngine
import HTTPTypes

/// Shows every other step a request as its client sees it, and answers it accordingly, if the server is behind a proxy
/// and knows its public address, or a trusted proxy states it.
///
/// This is the only place that knows whether the proxy removes the path of that address from requests. All paths inside
/// are those of a server without it. Responses refer to paths with ``HTTPServerRequest/basePath`` before them: `Location`
/// and `Link` here, pages by their templates, JSON documents where they are created.
package final class PublicAddressMiddleware: Middleware {
  private let address: PublicAddress?
  private let router: Router

  /// Creates the step of a server at `address`; `nil` if it is not known. `router` knows the paths of the server.
  package init(_ address: PublicAddress?, _ router: Router) {
    self.address = address
    self.router = router
  }

  package func respond(
    to request: HTTPServerRequest, next: Responder<HTTPServerRequest>
  ) async throws -> HTTPServerResponse {
    let seen: HTTPServerRequest
    if let address {
      seen = request.seen(
        at: path(of: request, below: address.basePath), below: address.basePath,
        of: isPublic(request.authority, address) ? address : nil)
    } else if let view = request.forwardedView {
      seen = request.seen(at: path(of: request, below: view.basePath ?? ""), of: view)
    } else {
      return try await next(request)
    }
    do {
      var response = try await next(seen)
      response.headerFields = response.headerFields.below(seen.basePath)
      return response
    } catch var problem as HTTPProblem {
      problem.headerFields = problem.headerFields.below(seen.basePath)
      throw problem
    }
  }

  /// Returns the path without `basePath`. A proxy may have removed it already: it is kept if only the whole path is one
  /// of this server.
  private func path(of request: HTTPServerRequest, below basePath: String) -> String {
    let path = request.path
    guard !basePath.isEmpty, path.hasPrefix(basePath) else { return path }
    let rest = String(path.dropFirst(basePath.count))
    if rest.isEmpty { return "/" }
    guard rest.hasPrefix("/") else { return path }
    return router.template(of: rest) == nil && router.template(of: path) != nil ? path : rest
  }

  /// Whether the proxy received a request with the authority `received` at `address`. Proxies can replace `Host` by the
  /// name of this server in the local network. Any other name is not replaced: its owner could have pointed it to this
  /// server (DNS rebinding).
  private func isPublic(_ received: String, _ address: PublicAddress) -> Bool {
    received.lowercased() == address.authority || CrossSiteRule.isLocal(received)
  }
}
