package import AccessControl
package import HTTPEngine
import HTTPTypes
import Observability

/// Admits the caller of a call by a token or a link, before the body is read.
package struct TokenAuthentication: Middleware {
  let access: AccessPolicy
  let permission: Permission

  /// Creates the authentication of a call that needs `permission`.
  package init(access: AccessPolicy, permission: Permission) {
    self.access = access
    self.permission = permission
  }

  package func respond(
    to routed: RoutedRequest, next: Responder<APIRequest>
  ) async throws -> HTTPServerResponse {
    let caller = try await access.admit(routed, permission)
    routed.request.record(caller)
    var response = try await next(APIRequest(routed, caller: caller))
    for field in caller.answerFields { response.headerFields[field.name] = field.value }
    return response
  }
}

/// Admits the visitor of a page by a session.
package struct SessionAuthentication: Middleware {
  let access: AccessPolicy
  let permission: Permission

  /// Creates the authentication of a page that needs `permission`.
  package init(access: AccessPolicy, permission: Permission) {
    self.access = access
    self.permission = permission
  }

  package func respond(
    to routed: RoutedRequest, next: Responder<PageCall>
  ) async throws -> HTTPServerResponse {
    let request = routed.request
    let progress = PageProgress.current ?? PageProgress()
    let visitor = try await access.visitor(request)
    progress.update { $0.visitor = visitor }
    request.record(visitor.caller)
    guard try routed.query().value("access_token") == nil else { throw HTTPProblem.tokenInURL }
    try visitor.require(permission)
    return try await next(PageCall(routed: routed, visitor: visitor, progress: progress))
  }
}

extension HTTPServerRequest {
  /// Records the caller for logs and metrics.
  fileprivate func record(_ caller: Caller) {
    context?.update { facts in
      facts.token = caller.token
      facts.user = caller.user
      if case .link = caller.credential { facts.usesLink = true }
    }
  }
}
