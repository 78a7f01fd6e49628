import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Logging
import Observability

/// Admits by tokens, within rates, and slows those who guess.
final class TokenAuthenticator: Sendable {
  private let configuration: AccessPolicy.Configuration
  private let tokens: TokenTable
  private let tokenRates: BucketTable<String>
  private let addressRates: BucketTable<String>
  private let tokenBytes: BucketTable<String>
  private let addressBytes: BucketTable<String>
  private let failedLogins: FailedLoginThrottle
  let running = RunningCalls()
  private let logger: Logger
  /// Who has signed in.
  let sessions: SessionTable
  var clock: AccessClock { configuration.clock }

  init(_ configuration: AccessPolicy.Configuration, logger: Logger) {
    self.configuration = configuration
    self.logger = logger
    tokens = TokenTable(TokenStore(storage: configuration.storage), logger: logger)
    tokenRates = BucketTable(capacity: configuration.countedCallers)
    addressRates = BucketTable(capacity: configuration.countedCallers)
    tokenBytes = BucketTable(capacity: configuration.countedCallers)
    addressBytes = BucketTable(capacity: configuration.countedCallers)
    failedLogins = FailedLoginThrottle(clock: configuration.clock)
    sessions = SessionTable(configuration.sessions, clock: configuration.clock)
  }

  /// Whether there was never a token, and none is needed then.
  func isOpen() async throws(TokenStoreError) -> Bool { isOpen(try await tokens.current()) }

  /// Whether none is needed where these are all.
  func isOpen(_ known: TokenTable.Tokens) -> Bool { !known.wereMade && configuration.opensWithoutTokens }

  /// Admits the caller; `link` gives the one who has a link, or refuses it, or gives `nil` where there is none.
  func admit(
    _ routed: RoutedRequest, _ permission: Permission, _ address: ClientAddress,
    link: () throws -> Caller?
  ) async throws -> Caller {
    let known = try await currentTokens()
    if isOpen(known) { return try link() ?? admitAnybody(routed.request, address) }
    try count(address)
    do {
      if let caller = try link() { return caller }
    } catch {
      try await slow(address)
      throw error
    }
    let authorization = Authorization(routed.request.headerFields)
    if case .none = authorization { throw HTTPProblem.tokenNeeded }
    let token = try await identify(authorization, routed.request, known, address)
    let caller = try count(token, address)
    guard caller.may(permission) else { throw HTTPProblem.notPermitted(permission) }
    register(routed.request, token)
    return caller
  }

  /// The tokens as they are now.
  func currentTokens() async throws(HTTPProblem) -> TokenTable.Tokens {
    do {
      return try await tokens.current()
    } catch {
      logger.error("Nobody is admitted: the tokens can't be read", metadata: ["error": "\(error)"])
      throw HTTPProblem.accessUnavailable
    }
  }

  /// In an open store: everybody but the pages of other sites.
  func admitAnybody(_ request: HTTPServerRequest, _ address: ClientAddress) throws -> Caller {
    guard configuration.answersAnyName || CrossSiteRule.isLocal(request.authority) else {
      throw HTTPProblem.foreignName
    }
    guard !CrossSiteRule.changesState(request.method) || !CrossSiteRule.comesFromAnotherSite(request) else {
      throw HTTPProblem.crossSite
    }
    return Caller.anybody(at: address)
  }

  /// The token that came with `request`, if it is taken; whoever sends wrong ones is slowed.
  func identify(
    _ authorization: Authorization, _ request: HTTPServerRequest, _ known: TokenTable.Tokens,
    _ address: ClientAddress
  ) async throws -> AccessToken {
    guard case .token(let secret) = authorization, let token = known.token(secret),
      token.state(at: clock.now()) != .revoked
    else {
      try await slow(address)
      throw HTTPProblem.tokenRefused
    }
    request.record(token: token.id)
    guard token.state(at: clock.now()) == .valid else {
      try await slow(address)
      throw HTTPProblem.tokenExpired
    }
    return token
  }

  /// Has the call that `request` makes ended with `token`.
  func register(_ request: HTTPServerRequest, _ token: AccessToken) {
    guard let context = request.context else { return }
    let call = running.add(token.id, end: request.abort)
    context.update { $0.running = call }
  }

  /// Throws the problem that says why the token of this id is no longer valid.
  func requireValid(_ id: String) async throws(HTTPProblem) {
    switch try await currentTokens().token(id: id)?.state(at: clock.now()) {
    case .valid: return
    case .expired: throw HTTPProblem.tokenExpired
    case .revoked, nil: throw HTTPProblem.tokenRefused
    }
  }

  /// Ends the calls of tokens that are no longer valid.
  func endInvalidCalls() async {
    for id in running.tokens {
      do throws(HTTPProblem) {
        try await requireValid(id)
      } catch  where error.status == .unauthorized {
        let count = running.end(id)
        logger.notice(
          "Calls were ended, for their token is no longer valid",
          metadata: ["token": "\(id)", "calls": "\(count)", "reason": "\(error.title)"])
      } catch {
        // Nobody knows whether it is valid. The next look may tell, and nothing is published meanwhile.
        return
      }
    }
  }

  private func slow(_ address: ClientAddress) async throws {
    if let seconds = try await failedLogins.wait(address.counted) {
      throw HTTPProblem.tooManyWrongTokens(retryAfter: seconds)
    }
  }

  /// Counts a request of `address`, if it has one left.
  func count(_ address: ClientAddress) throws {
    guard let rate = configuration.addressRate else { return }
    try Self.require(addressRates.take(address.counted, rate.allowance, at: clock.elapsed()), "address")
  }

  /// The caller that `token` stands for, if it has a request left.
  func count(_ token: AccessToken, _ address: ClientAddress) throws -> Caller {
    var caller = Caller(
      .token(token.id), scopes: token.scopes, limits: token.limits, address: address.description)
    if let rate = token.rate ?? configuration.tokenRate {
      let verdict = tokenRates.take(token.id, rate.allowance, at: clock.elapsed())
      try Self.require(verdict, "token")
      // Who was given a rate wants to know how much of it is left.
      if token.rate != nil { caller.answerFields = verdict.fields("token") }
    }
    caller.meter = meter(token, address)
    caller.requireValid = { [id = token.id] () throws(HTTPProblem) in try await self.requireValid(id) }
    return caller
  }

  private func meter(_ token: AccessToken, _ address: ClientAddress) -> UploadMeter {
    var gauges: [UploadMeter.Gauge] = []
    if let quota = token.quota ?? configuration.tokenQuota {
      gauges.append(.init(name: "token", key: token.id, quota: quota, table: tokenBytes))
    }
    if let quota = configuration.addressQuota {
      gauges.append(.init(name: "address", key: address.counted, quota: quota, table: addressBytes))
    }
    return UploadMeter(gauges: gauges, clock: clock)
  }

  private static func require(_ verdict: TokenBucket.Verdict, _ name: String) throws {
    guard verdict.isAllowed else { throw HTTPProblem.tooManyRequests(verdict, of: name) }
  }
}
