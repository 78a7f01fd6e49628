import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Logging
import Observability
import SnapshotStore
import SystemIO

/// Authenticates callers by their tokens, enforces rate limits, and slows down clients that send wrong tokens.
final class TokenAuthenticator: Sendable {
  private let configuration: AccessPolicy.Configuration
  /// The current rates and quotas; those in `configuration` are the first ones.
  private let rates: Lock<AccessRates>
  /// The current rules for users of a proxy.
  private let users: Lock<TrustedUsers>
  private let tokens: TokenTable
  private let tokenRates: BucketTable<String>
  private let addressRates: BucketTable<String>
  /// The quotas of tokens and addresses.
  let quotas: QuotaTables
  private let failedLogins: FailedLoginThrottle
  /// Writes the files of tokens.
  private let changes = ServerQueues.shared.background.next
  let running = RunningCalls()
  let logger: Logger
  /// The sessions of signed-in users.
  let sessions: Sessions
  var clock: AccessClock { configuration.clock }

  init(_ configuration: AccessPolicy.Configuration, logger: Logger) {
    self.configuration = configuration
    rates = Lock(configuration.rates)
    users = Lock(configuration.users)
    self.logger = logger
    tokens = TokenTable(TokenStore(storage: configuration.storage), logger: logger)
    tokenRates = BucketTable(capacity: configuration.countedCallers)
    addressRates = BucketTable(capacity: configuration.countedCallers)
    quotas = QuotaTables(
      capacity: configuration.countedCallers, shared: configuration.sharedQuotas, clock: configuration.clock,
      logger: logger)
    failedLogins = FailedLoginThrottle(clock: configuration.clock)
    sessions = Sessions(
      configuration.sessions, shared: configuration.sharedSessions, clock: configuration.clock, logger: logger
    )
  }

  /// Applies other rates and quotas to the following requests. A counter whose rate changes starts again.
  func change(_ rates: AccessRates) { self.rates.withLock { $0 = rates } }

  /// Trusts other users in the following requests.
  func change(_ users: TrustedUsers) { self.users.withLock { $0 = users } }

  /// Returns the user that a trusted proxy names in `request`; `nil` if it states none. Throws a problem if it states one
  /// and is not from such a proxy, or states it wrongly.
  func user(of request: HTTPServerRequest) throws(HTTPProblem) -> TrustedUser? {
    try users.value.user(of: request)
  }

  /// Whether no tokens are required, because none was ever created.
  func isOpen() async throws(TokenStoreError) -> Bool { isOpen(try await tokens.current()) }

  /// Whether no tokens are required if `known` are all tokens. Never, if users sign in at a proxy or have done so since the
  /// start: requests without a user would have all rights.
  func isOpen(_ known: TokenTable.Tokens) -> Bool {
    !known.wereMade && configuration.opensWithoutTokens && !configuration.users.isEnabled
      && !users.value.isEnabled
  }

  /// Returns the caller of a request. `link` returns the caller if the request has a valid link, `nil` if it has none,
  /// and throws if the link is invalid.
  func admit(
    _ routed: RoutedRequest, _ permission: Permission, _ address: ClientAddress,
    link: () throws -> Caller?
  ) async throws -> Caller {
    let user = try user(of: routed.request)
    let known = try await currentTokens(since: routed.request.arrival)
    if isOpen(known) { return try link() ?? admitAnybody(routed.request, address) }
    try count(address)
    do {
      if let caller = try link() { return caller }
    } catch {
      try await slow(address)
      throw error
    }
    let authorization = Authorization(routed.request.headerFields)
    if let user, !authorization.isToken { return try admit(user, routed.request, permission, address) }
    let token: AccessToken
    if case .none = authorization {
      token = try identify(routed.request, known)
    } else {
      token = try await identify(
        authorization, routed.request, known, address, acceptsLinks: permission == .attach)
    }
    guard token.link == nil || token.isLink(for: routed, permission) else {
      // Whoever has the link learns nothing about other calls and reports.
      try await slow(address)
      throw HTTPProblem.tokenRefused
    }
    return try admit(token, routed.request, permission, address)
  }

  /// Returns the caller of a request that has proved possession of the valid `token`.
  private func admit(
    _ token: AccessToken, _ request: HTTPServerRequest, _ permission: Permission, _ address: ClientAddress
  ) throws -> Caller {
    let caller = try count(token, address)
    guard caller.may(permission) else { throw HTTPProblem.notPermitted(permission) }
    register(request, token)
    return caller
  }

  /// Returns the caller of a request in which a trusted proxy names `user`.
  private func admit(
    _ user: TrustedUser, _ request: HTTPServerRequest, _ permission: Permission, _ address: ClientAddress
  ) throws -> Caller {
    let caller = try count(user, request, address)
    guard caller.may(permission) else { throw HTTPProblem.notPermitted(permission, isUser: true) }
    return caller
  }

  /// Returns the tokens at a point in time since `arrival`, by default during the call.
  func currentTokens(
    since arrival: UInt64 = SystemClock.monotonicNanoseconds
  ) async throws(HTTPProblem) -> TokenTable.Tokens {
    do {
      return try await tokens.current(since: arrival)
    } catch {
      logger.error("All callers are refused: the tokens can't be read", metadata: ["error": "\(error)"])
      throw HTTPProblem.accessUnavailable
    }
  }

  /// Admits any caller to an open store, except pages of other sites.
  func admitAnybody(_ request: HTTPServerRequest, _ address: ClientAddress) throws -> Caller {
    let isKnown = request.publicURL != nil || CrossSiteRule.isLocal(request.authority)
    guard configuration.answersAnyName || isKnown else {
      throw HTTPProblem.foreignName
    }
    guard !CrossSiteRule.changesState(request.method) || !CrossSiteRule.comesFromAnotherSite(request) else {
      throw HTTPProblem.crossSite
    }
    return Caller.anybody(at: address)
  }

  /// Returns the valid token of `request`. Delays the error for a wrong token.
  /// - Parameter acceptsLinks: whether the token can be a link to attach. Otherwise a link is a wrong token.
  func identify(
    _ authorization: Authorization, _ request: HTTPServerRequest, _ known: TokenTable.Tokens,
    _ address: ClientAddress, acceptsLinks: Bool = false
  ) async throws -> AccessToken {
    guard case .token(let secret) = authorization, let token = known.token(secret),
      known.state(of: token, at: clock.now()) != .revoked, token.link == nil || acceptsLinks
    else {
      try await slow(address)
      throw HTTPProblem.tokenRefused
    }
    request.record(token: token.id)
    guard token.state(at: clock.now()) == .valid else {
      try await slow(address)
      throw token.link == nil ? HTTPProblem.tokenExpired : HTTPProblem.linkExpired
    }
    return token
  }

  /// Returns the valid token whose id is the common name of the client's certificate. Browsers send a certificate with
  /// requests of any page, so pages of other sites are refused.
  private func identify(
    _ request: HTTPServerRequest, _ known: TokenTable.Tokens
  ) throws(HTTPProblem) -> AccessToken {
    guard let name = request.clientCertificate?.commonName else { throw .tokenNeeded }
    guard let token = known.token(id: name), token.link == nil, token.state(at: clock.now()) != .revoked
    else {
      throw .tokenRefused
    }
    guard !CrossSiteRule.changesState(request.method) || !CrossSiteRule.comesFromAnotherSite(request) else {
      throw .crossSite
    }
    request.record(token: token.id)
    guard token.state(at: clock.now()) == .valid else { throw .tokenExpired }
    return token
  }

  /// Registers the call of `request`, so that it ends when `token` becomes invalid.
  func register(_ request: HTTPServerRequest, _ token: AccessToken) {
    guard let context = request.context else { return }
    let call = running.add(token.id, end: request.abort)
    context.update { $0.running = call }
  }

  /// Throws a problem if the token with this id is no longer valid.
  func requireValid(_ id: String) async throws(HTTPProblem) {
    let known = try await currentTokens()
    switch known.token(id: id).map({ known.state(of: $0, at: clock.now()) }) {
    case .valid: return
    case .expired: throw HTTPProblem.tokenExpired
    case .revoked, nil: throw HTTPProblem.tokenRefused
    }
  }

  /// Ends the calls of tokens that are no longer valid.
  func endInvalidCalls() async {
    for id in running.tokens {
      do {
        try await requireValid(id)
      } catch  where error.status == .unauthorized {
        let count = running.end(id)
        logger.notice(
          "Calls were ended because their token is no longer valid",
          metadata: ["token": "\(id)", "calls": "\(count)", "reason": "\(error.title)"])
      } catch {
        // The tokens can't be read. The next check tries again; until then nothing can be published.
        return
      }
    }
  }

  func slow(_ address: ClientAddress) async throws {
    if let seconds = try await failedLogins.wait(address.counted) {
      throw HTTPProblem.tooManyWrongTokens(retryAfter: seconds)
    }
  }

  /// Counts a request of `address`. Throws if its rate limit is exceeded.
  func count(_ address: ClientAddress) throws {
    guard let rate = rates.withLock(\.address) else { return }
    try Self.require(addressRates.take(address.counted, rate.allowance, at: clock.elapsed()), "address")
  }

  /// Counts a request of `token` and returns its caller. Throws if the rate limit is exceeded.
  func count(_ token: AccessToken, _ address: ClientAddress) throws -> Caller {
    var caller = Caller(
      .token(token.id), scopes: token.scopes, limits: token.limits, address: address)
    if let rate = token.rate ?? rates.withLock(\.token) {
      let verdict = tokenRates.take(token.id, rate.allowance, at: clock.elapsed())
      try Self.require(verdict, "token")
      // A client whose token has its own limit needs to know the remaining quota.
      if token.rate != nil { caller.answerFields = verdict.fields("token") }
    }
    caller.name = token.name
    caller.link = token.link.map { LinkUse($0, id: token.id, of: self) }
    caller.meter = meter(of: token.id, token.quota, address)
    caller.requireValid = { [id = token.id] () throws(HTTPProblem) in try await self.requireValid(id) }
    return caller
  }

  /// Counts a request of `user` and returns its caller. Throws if the rate limit is exceeded, and unless a page of this
  /// server sent a request that changes something: the proxy knows users by a cookie, which browsers send with requests of
  /// any page.
  func count(
    _ user: TrustedUser, _ request: HTTPServerRequest, _ address: ClientAddress
  ) throws -> Caller {
    request.record(user: user.name)
    guard !CrossSiteRule.changesState(request.method) || CrossSiteRule.comesFromOwnPage(request) else {
      throw HTTPProblem.notOwnPage
    }
    var caller = Caller(.user(user.name), scopes: user.scopes, address: address)
    let account = caller.account ?? user.name
    if let rate = rates.withLock(\.token) {
      try Self.require(tokenRates.take(account, rate.allowance, at: clock.elapsed()), "token")
    }
    caller.name = user.name
    caller.meter = meter(of: account, nil, address)
    return caller
  }

  /// Changes the files of tokens, for all servers that share them. `body` blocks.
  func changeTokens<Value: Sendable>(
    _ body: @escaping @Sendable (TokenStore) throws -> Value
  ) async throws -> Value {
    let store = TokenStore(storage: configuration.storage)
    if let shared = configuration.sharedTokens { return try await shared.change { try body(store) } }
    return try await changes.perform { () throws(any Error) in try body(store) }
  }

  /// - Parameters:
  ///   - account: the caller's ``Caller/account``.
  ///   - quota: the quota of its token; `nil` for the server's default.
  private func meter(of account: String, _ quota: UploadQuota?, _ address: ClientAddress) -> UploadMeter {
    var gauges: [UploadMeter.Gauge] = []
    let rates = rates.withLock { $0 }
    if let quota = quota ?? rates.tokenQuota {
      gauges.append(.init(name: "token", key: account, quota: quota, table: quotas.tokens))
    }
    if let quota = rates.addressQuota {
      gauges.append(.init(name: "address", key: address.counted, quota: quota, table: quotas.addresses))
    }
    return UploadMeter(gauges: gauges, clock: clock)
  }

  private static func require(_ verdict: TokenBucket.Verdict, _ name: String) throws {
    guard verdict.isAllowed else { throw HTTPProblem.tooManyRequests(verdict, of: name) }
  }
}
