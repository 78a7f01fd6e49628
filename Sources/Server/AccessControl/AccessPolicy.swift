package import HTTPEngine
import HTTPSemantics
import HTTPTypes
package import Logging
import Observability

/// Decides who may make which call.
///
/// Asked before anything of a request's body is read, so that a refusal comes in place of `100 (Continue)`. What it
/// doesn't know to be allowed is refused. Safe to use from any task.
package struct AccessPolicy: Sendable {
  /// Over which storage it watches, and how.
  package struct Configuration: Sendable {
    /// The storage folder, below which tokens and keys are kept.
    package var storage: String
    /// Whether everybody may do everything until there is a first token.
    package var opensWithoutTokens = true
    /// Whether an open store answers under names that anybody could have pointed at it.
    package var answersAnyName = false
    /// How many requests a token may make that has no rate of its own; `nil` is no limit.
    package var tokenRate: RateLimit?
    /// How many requests may come from one address, where tokens are needed; `nil` is no limit.
    package var addressRate: RateLimit?
    /// How many bytes may be uploaded with a token that has no quota of its own; `nil` is no limit.
    package var tokenQuota: UploadQuota?
    /// How many bytes may be uploaded from one address, where tokens are needed; `nil` is no limit.
    package var addressQuota: UploadQuota?
    /// The most addresses, and the most tokens, that are counted at once.
    package var countedCallers = 10_000
    /// How long who has signed in to the web pages stays so.
    package var sessions = SessionLimits()
    /// The time.
    package var clock = AccessClock()

    /// Watches over the storage folder at `storage`.
    package init(storage: String) { self.storage = storage }
  }

  /// Lets everybody do everything.
  package static let open = AccessPolicy()

  /// Signs links, and knows them again.
  package let links: LinkSigner
  package let clock: AccessClock
  /// Bind the web pages' forms to the browsers that they were made for.
  let forms = FormTokens()
  let authenticator: TokenAuthenticator?

  private init() {
    links = LinkSigner()
    clock = AccessClock()
    authenticator = nil
  }

  /// Watches over a storage; makes the key that links are signed with, where there is none yet. Blocks.
  ///
  /// Throws ``TokenStoreError/tokensMissing(_:)`` where the storage has lost its tokens.
  package init(_ configuration: Configuration, logger: Logger) throws(TokenStoreError) {
    try TokenStore(storage: configuration.storage).requireComplete()
    do {
      links = LinkSigner(key: try KeyFile.links(in: configuration.storage).readOrCreate())
    } catch {
      throw .system(error)
    }
    clock = configuration.clock
    authenticator = TokenAuthenticator(configuration, logger: logger)
  }

  /// Whether everybody may do everything at the moment.
  package func isOpen() async throws(TokenStoreError) -> Bool {
    guard let authenticator else { return true }
    return try await authenticator.isOpen()
  }

  /// Admits the caller of a call that needs `permission`, or throws the ``HTTPProblem`` that says why not.
  package func admit(_ routed: RoutedRequest, _ permission: Permission) async throws -> Caller {
    let request = routed.request
    let address = ClientAddress(peer: request.peer)
    guard permission != .open else { return Caller(.none, scopes: [], address: address.description) }
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

  /// How often ``watch()`` looks.
  package static let watchInterval = Duration.seconds(1)

  /// Ends the calls of tokens that are revoked or expire, within ``watchInterval``, until the task is cancelled.
  package func watch() async {
    guard let authenticator else { return }
    while !Task.isCancelled {
      await authenticator.endInvalidCalls()
      do { try await clock.sleep(Self.watchInterval) } catch { return }
    }
  }

  /// Throws the problem that says why the token of this id is no longer valid.
  package func requireValid(_ id: String) async throws(HTTPProblem) {
    if let authenticator { try await authenticator.requireValid(id) }
  }

  /// Admits who has a link, whoever it is.
  private func admit(
    _ signature: String, to routed: RoutedRequest, _ address: ClientAddress
  ) throws -> Caller {
    let id = try routed.value(of: .id)
    switch links.verdict(
      id, expires: try routed.query().value("expires"), signature: signature, at: clock.now())
    {
    case .genuine:
      var caller = Caller(.link(id), scopes: [], address: address.description)
      caller.answerFields[.referrerPolicy] = "no-referrer"
      return caller
    case .expired: throw HTTPProblem.linkExpired
    case .forged: throw HTTPProblem.linkRefused
    }
  }
}
