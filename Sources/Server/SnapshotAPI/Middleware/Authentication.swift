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

  package func answer(_ routed: RoutedRequest, next: @escaping Responder<APIRequest>) -> HTTPAnswer {
    do {
      if let caller = try access.admitAtOnce(routed, permission) { return answer(routed, caller, next) }
    } catch {
      return .ready(.failure(error))
    }
    return .pending {
      try await answer(routed, try await access.admit(routed, permission), next).response()
    }
  }

  private func answer(
    _ routed: RoutedRequest, _ caller: Caller, _ next: Responder<APIRequest>
  ) -> HTTPAnswer {
    routed.request.record(caller)
    let answer = next(APIRequest(routed, caller: caller))
    let fields = caller.answerFields
    guard !fields.isEmpty else { return answer }
    return answer.changing { response in
      for field in fields { response.headerFields[field.name] = field.value }
    }
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

  package func answer(_ routed: RoutedRequest, next: @escaping Responder<PageCall>) -> HTTPAnswer {
    .pending { try await respond(to: routed, next) }
  }

  private func respond(
    to routed: RoutedRequest, _ next: Responder<PageCall>
  ) async throws -> HTTPServerResponse {
    let request = routed.request
    let progress = PageProgress.current ?? PageProgress()
    let visitor = try await access.visitor(request)
    progress.update { $0.visitor = visitor }
    request.record(visitor.caller)
    guard try routed.query().value("access_token") == nil else { throw HTTPProblem.tokenInURL }
    try visitor.require(permission)
    return try await next(PageCall(routed: routed, visitor: visitor, progress: progress)).response()
  }
}

extension HTTPServerRequest {
  /// Records the caller for logs and metrics.
  fileprivate func record(_ caller: Caller) {
    context?.update { facts in
      facts.token = caller.token
      if case .link = caller.credential { facts.usesLink = true }
    }
  }
}
