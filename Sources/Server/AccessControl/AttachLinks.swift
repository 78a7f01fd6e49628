import Foundation
package import HTTPEngine
import Logging
import Observability
package import SnapshotFormat

/// The tokens of several servers that share their snapshots.
package protocol SharedTokens: Sendable {
  /// Changes the files of tokens in the storage folder for all servers. `body` runs on the current files, while no other
  /// server changes them. If this throws, it is unknown whether they have the changes.
  func change<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value
}

/// A link to attach, as its maker sees it: without its secret.
package struct AttachLinkState: Sendable, Hashable {
  /// The token of the link. Its ``AccessToken/link`` is not `nil`.
  package let token: AccessToken
  /// What the link allows, and its uses.
  package let link: AttachLink
  /// Whether the link can be used, apart from its number of snapshots and bytes.
  package let state: AccessToken.State

  /// Creates a state from its parts.
  package init(token: AccessToken, link: AttachLink, state: AccessToken.State) {
    (self.token, self.link, self.state) = (token, link, state)
  }
}

/// The links with which people without a token can attach snapshots to one report.
extension AccessPolicy {
  /// The name of the token of every link, for people.
  private static let linkName = "Link to attach"

  /// Creates a link to attach to `report` with the limits of `caller`. It expires with the caller's token, or earlier.
  ///
  /// Throws an ``HTTPProblem`` if the caller can't read and attach to the report, if the store requires no tokens, if
  /// there are too many links, or if a number is outside of ``AttachLink/Limits``.
  /// - Returns: the link, and its secret, which is not stored.
  package func makeAttachLink(
    to report: ReportID, seconds: Int, count: Int, bytes: Int64, for caller: Caller
  ) async throws(HTTPProblem) -> (AttachLinkState, secret: String) {
    try requireLinkRights(caller, report)
    let now = clock.now()
    guard caller.user == nil else { throw .linksNeedToken }
    guard let authenticator, let maker = caller.token,
      let known = try await authenticator.currentTokens().token(id: maker)
    else { throw .linksNeedTokens }
    guard AttachLink.Limits.lifetimes.contains(seconds) else {
      throw .outside("seconds", AttachLink.Limits.lifetimes)
    }
    guard AttachLink.Limits.counts.contains(count) else { throw .outside("count", AttachLink.Limits.counts) }
    guard let link = AttachLink(report: report, count: count, bytes: bytes, maker: maker) else {
      throw .outside("bytes", AttachLink.Limits.bytes)
    }
    try await caller.requireValid()
    // Rounded up to a whole second, so that a link never expires early.
    let end = Date(timeIntervalSince1970: (now.timeIntervalSince1970 + Double(seconds)).rounded(.up))
    let request = TokenStore.Request(
      name: Self.linkName, scopes: [.attach], limits: caller.limits, rate: known.rate, quota: known.quota,
      expiresAt: known.expiresAt.map { min($0, end) } ?? end, link: link)
    do {
      let (token, secret) = try await authenticator.changeTokens { store in
        let valid = try store.list().filter { $0.link?.report == report && $0.state(at: now) == .valid }
        guard valid.count < AttachLink.Limits.perReport else { throw HTTPProblem.tooManyLinks }
        return try store.create(request, now: now)
      }
      return (AttachLinkState(token: token, link: link, state: .valid), secret)
    } catch let problem as HTTPProblem {
      throw problem
    } catch {
      authenticator.logFailedChange(error)
      throw .accessUnavailable
    }
  }

  /// The links to attach to `report`, newest first, with those that are no longer valid. Throws an ``HTTPProblem`` if the
  /// caller can't make such links.
  package func attachLinks(to report: ReportID, for caller: Caller) async throws(HTTPProblem)
    -> [AttachLinkState]
  {
    try requireLinkRights(caller, report)
    guard let authenticator else { return [] }
    let (known, now) = (try await authenticator.currentTokens(), clock.now())
    return known.links(to: report).compactMap { token in
      token.link.map { AttachLinkState(token: token, link: $0, state: known.state(of: token, at: now)) }
    }
  }

  /// Revokes the link `id` to attach to `report`. Throws an ``HTTPProblem`` if there is none, or if it is neither the
  /// caller's own nor the caller an administrator.
  package func revokeAttachLink(
    _ id: String, to report: ReportID, for caller: Caller
  ) async throws(HTTPProblem) {
    guard let found = try await attachLinks(to: report, for: caller).first(where: { $0.token.id == id }),
      let authenticator
    else { throw .noSuchLink }
    guard caller.mayRevoke(found) else { throw .notPermitted(.admin) }
    try await caller.requireValid()
    do {
      _ = try await authenticator.changeTokens { [now = clock.now()] in try $0.revoke(id, now: now) }
    } catch {
      authenticator.logFailedChange(error)
      throw .accessUnavailable
    }
  }

  /// The state of the link with `secret`, and its caller, for its page. Counts a request of the link, and not of the
  /// address. Throws an ``HTTPProblem`` if there is no such link, or if it expired or was revoked.
  package func attachLink(
    _ secret: String, _ request: HTTPServerRequest
  ) async throws -> (AttachLinkState, Caller) {
    guard let authenticator else { throw HTTPProblem.linkRefused }
    return try await authenticator.attachLink(secret, request)
  }

  /// The use of links by the token with this id; `nil` if it is no link.
  package func linkUse(ofToken id: String) async throws(HTTPProblem) -> LinkUse? {
    guard let authenticator else { return nil }
    return try await authenticator.currentTokens().token(id: id)?.link
      .map { LinkUse($0, id: id, of: authenticator) }
  }

  private func requireLinkRights(_ caller: Caller, _ report: ReportID) throws(HTTPProblem) {
    guard caller.may(.read) else { throw .notPermitted(.read) }
    guard caller.may(.attach) else { throw .notPermitted(.attach) }
    guard caller.mayAttach(to: report) else { throw .outsideLimits("reports") }
  }
}

extension Caller {
  /// Whether the caller can make links to attach to `report`, and see those that exist.
  package func mayMakeLinks(to report: ReportID) -> Bool {
    may(.read) && mayAttach(to: report) && token != nil
  }

  /// Whether the caller can revoke `link`.
  package func mayRevoke(_ link: AttachLinkState) -> Bool { may(.admin) || link.link.maker == token }
}

extension AccessToken {
  /// Whether the token is a link for the call of `routed`, which needs `permission`. Calls whose path has no report check
  /// it later.
  func isLink(for routed: RoutedRequest, _ permission: Permission) -> Bool {
    guard let link, permission == .attach else { return false }
    return routed.valueIfValid(of: .report).map { $0 == link.report } ?? true
  }
}

extension TokenAuthenticator {
  /// Logs why the files of tokens were not changed.
  func logFailedChange(_ error: any Error) {
    logger.error("A link can't be made, counted or revoked", metadata: ["error": "\(error)"])
  }

  /// Returns the link with this secret, and its caller.
  fileprivate func attachLink(
    _ secret: String, _ request: HTTPServerRequest
  ) async throws -> (AttachLinkState, Caller) {
    let address = ClientAddress(peer: request.peer)
    let known = try await currentTokens(since: request.arrival)
    guard case .token(let parsed)? = TokenSecret(secret).map(Authorization.token),
      let link = known.token(parsed)?.link
    else {
      try await slow(address)
      throw HTTPProblem.linkRefused
    }
    let token: AccessToken
    do {
      token = try await identify(.token(parsed), request, known, address, acceptsLinks: true)
    } catch let problem as HTTPProblem where ProblemKind(problem) == .tokenRefused {
      throw HTTPProblem.linkRefused
    }
    let caller = try self.count(token, address)
    register(request, token)
    return (AttachLinkState(token: token, link: link, state: .valid), caller)
  }
}
