import Crypto
package import HTTPEngine
import HTTPSemantics
import HTTPTypes
package import Logging
import Observability

/// Decides which callers are allowed to make which calls.
///
/// A call is checked before any byte of the request's body is read, so that a refusal is sent instead of
/// `100 (Continue)`. Everything that is not explicitly allowed is refused. Thread-safe.
package struct AccessPolicy: Sendable {
  /// The settings of an access policy.
  package struct Configuration: Sendable {
    /// The storage folder, which contains the tokens and keys.
    package var storage: String
    /// Whether every caller is allowed to do everything until the first token is created.
    package var opensWithoutTokens = true
    /// Whether an open store also responds under host names that an attacker could have pointed to it.
    package var answersAnyName = false
    /// The rates and quotas of callers. ``AccessPolicy/change(_:)`` replaces them.
    package var rates = AccessRates()
    /// The users who sign in at a proxy. ``AccessPolicy/change(_:)`` replaces them.
    package var users = TrustedUsers()
    /// The maximum number of addresses, and of tokens, with counters.
    package var countedCallers = 10_000
    /// The limits for sessions of the web pages.
    package var sessions = SessionLimits()
    /// Signs in the only user of the server, to whom it responds only under a name of this machine; `nil` if users sign in
    /// with tokens.
    package var signInLink: SignInLink?
    /// The sessions of all servers that share their snapshots; `nil` for a single server.
    package var sharedSessions: (any SharedSessions)?
    /// The quotas of all servers that share their snapshots; `nil` for a single server.
    package var sharedQuotas: (any SharedQuotas)?
    /// The tokens of all servers that share their snapshots; `nil` for a single server.
    package var sharedTokens: (any SharedTokens)?
    /// The clock.
    package var clock = AccessClock()

    /// Creates settings for the storage folder at `storage`, with default values.
    package init(storage: String) { self.storage = storage }
  }

  /// A policy that allows every caller to do everything.
  package static let open = AccessPolicy()

  /// Signs and verifies links to bundles.
  package let links: LinkSigner
  package let clock: AccessClock
  /// Signs in the only user of the server; `nil` if users sign in with tokens.
  package let signInLink: SignInLink?
  /// Binds the forms of the web pages to the browsers for which they were created.
  let forms: FormTokens
  let authenticator: TokenAuthenticator?

  private init() {
    let key = SymmetricKey(size: .bits256)
    (links, forms) = (LinkSigner(key: key), FormTokens(key: key))
    clock = AccessClock()
    signInLink = nil
    authenticator = nil
  }

  /// Creates a policy for a storage. Creates the key for signing links if there is none. Blocks.
  ///
  /// Throws ``TokenStoreError/tokensMissing(_:)`` if the storage has lost its tokens.
  package init(_ configuration: Configuration, logger: Logger) throws(TokenStoreError) {
    try TokenStore(storage: configuration.storage).requireComplete()
    let key = try KeyFile.links(in: configuration.storage).readOrCreate()
    (links, forms) = (LinkSigner(key: key), FormTokens(key: key))
    clock = configuration.clock
    signInLink = configuration.signInLink
    authenticator = TokenAuthenticator(configuration, logger: logger)
  }

  /// Throws a problem if the server has one user, and the host name of `request` could belong to somebody else, whose
  /// pages would be of the same origin (DNS rebinding).
  package func requireOwnName(_ request: HTTPServerRequest) throws(HTTPProblem) {
    guard signInLink == nil || PageOrigin.isLoopback(request.authority.lowercased()) else {
      throw .notThisMachine
    }
  }

  /// Applies other rates and quotas to the following requests. A counter whose rate changes starts again.
  package func change(_ rates: AccessRates) { authenticator?.change(rates) }

  /// Whether every caller is currently allowed to do everything.
  package func isOpen() async throws(TokenStoreError) -> Bool {
    guard let authenticator else { return true }
    return try await authenticator.isOpen()
  }

  /// Returns the caller of a request that needs `permission`. Throws an ``HTTPProblem`` if the caller is refused.
  package func admit(_ routed: RoutedRequest, _ permission: Permission) async throws -> Caller {
    let request = routed.request
    let address = ClientAddress(peer: request.peer)
    guard permission != .open else { return Caller(.none, scopes: [], address: address) }
    let query = try routed.query()
    guard try query.value("access_token") == nil else { throw HTTPProblem.tokenInURL }
    let link = permission == .bundle ? try query.value("signature") : nil
    if let authenticator {
      return try await authenticator.admit(routed, permission, address) {
        try link.map { try admit($0, to: routed, address) }
      }
    }
    return try link.map { try admit($0, to: routed, address) }
      ?? Caller.anybody(at: address)
  }

  /// The interval of the checks in ``watch()``.
  package static let watchInterval = Duration.seconds(1)

  /// Ends the calls of revoked and expired tokens within ``watchInterval``, and keeps sessions and quotas in agreement
  /// with other servers. Returns when the task is cancelled.
  package func watch() async {
    guard let authenticator else { return }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await authenticator.sessions.watch() }
      if authenticator.quotas.isShared {
        group.addTask { await self.regularly { await authenticator.quotas.exchange() } }
      }
      group.addTask { await self.regularly { await authenticator.endInvalidCalls() } }
    }
  }

  private func regularly(_ work: () async -> Void) async {
    while !Task.isCancelled {
      await work()
      do { try await clock.sleep(Self.watchInterval) } catch { return }
    }
  }

  /// Throws a problem if the token with this id is no longer valid.
  package func requireValid(_ id: String) async throws(HTTPProblem) {
    if let authenticator { try await authenticator.requireValid(id) }
  }

  /// Returns the names of those of the tokens with these ids that exist and have one, by id. Revoked tokens are included.
  package func tokenNames(_ ids: Set<String>) async throws(HTTPProblem) -> [String: String] {
    guard let authenticator else { return [:] }
    let known = try await authenticator.currentTokens()
    return ids.reduce(into: [:]) { $0[$1] = known.token(id: $1)?.name }
  }

  /// Admits any caller with a valid link.
  private func admit(
    _ signature: String, to routed: RoutedRequest, _ address: ClientAddress
  ) throws -> Caller {
    let id = try routed.value(of: .id)
    switch links.verdict(
      id, expires: try routed.query().value("expires"), signature: signature, at: clock.now())
    {
    case .genuine:
      var caller = Caller(.link(id), scopes: [], address: address)
      caller.answerFields[.referrerPolicy] = "no-referrer"
      return caller
    case .expired: throw HTTPProblem.linkExpired
    case .forged: throw HTTPProblem.linkRefused
    }
  }
}

/// The rates and quotas of callers; `nil` means no limit.
package struct AccessRates: Sendable, Hashable {
  /// The rate limit for tokens without their own limit.
  package var token: RateLimit?
  /// The rate limit per address, if tokens are required.
  package var address: RateLimit?
  /// The upload quota for tokens without their own quota.
  package var tokenQuota: UploadQuota?
  /// The upload quota per address, if tokens are required.
  package var addressQuota: UploadQuota?

  /// Creates rates without limits.
  package init() {}
}
