package import AccessControl
package import Foundation
package import HTTPEngine
package import HTTPTypes
import Logging
package import Observability
package import SnapshotAPI
import SnapshotFormat
package import SnapshotServer
package import StoreTesting
import SystemIO
import TestSupport

/// The API over stores in memory or `shared`, with access control by tokens in a temporary folder.
package struct GuardedAPI {
  /// The API, which asks for tokens as soon as there are any.
  package let api: TestAPI
  /// The access control of the API.
  package let access: AccessPolicy
  /// The tokens, as the command changes them.
  package let tokens: TokenStore
  /// The path of the folder with tokens and keys.
  package let storage: String
  /// The clock of the access control.
  package let clock: HandClock
  private let temporary: TemporaryFolder

  /// Makes an API without tokens, whose access control was configured by `configure`.
  package init(
    over shared: (storage: ServerStorage, catalog: InMemoryCatalog)? = nil,
    limits: ServiceLimits = ServiceLimits(), observation: Observation = Observation(),
    at address: PublicAddress? = nil,
    _ configure: (inout AccessPolicy.Configuration) -> Void = { _ in }
  ) throws {
    temporary = try TemporaryFolder()
    storage = temporary.file("storage").path
    tokens = TokenStore(storage: storage)
    clock = HandClock()
    var configuration = AccessPolicy.Configuration(storage: storage)
    configuration.clock = clock.accessClock
    configure(&configuration)
    let log = CapturedLog()
    access = try AccessPolicy(configuration, logger: Logger(label: "test") { _ in log })
    api = TestAPI(over: shared, limits: limits, access: access, observation: observation, at: address)
  }

  /// Creates a token, and returns the fields of a request that uses it.
  package func token(
    _ scopes: Scope..., limits: CallerLimits = CallerLimits(), rate: RateLimit? = nil, expiresAt: Date? = nil
  ) throws -> (id: String, fields: HTTPFields) {
    let request = TokenStore.Request(
      scopes: Set(scopes), limits: limits, rate: rate, expiresAt: expiresAt)
    let (token, secret) = try tokens.create(request, now: clock.now)
    return (token.id, Self.bearer(secret))
  }

  /// Makes the last change of the tokens so old that they are not read again for each request.
  package func settleTokens() throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date() - 60], ofItemAtPath: storage + "/tokens")
  }

  /// The fields of a request with a token.
  package static func bearer(_ secret: String) -> HTTPFields { [.authorization: "Bearer \(secret)"] }

  /// Attaches `bundle` with a token.
  @discardableResult
  package func attach(
    _ bundle: ZippedSample, report: String = "BUG-1", _ token: HTTPFields
  ) async throws -> TestAPI.Answer {
    try await api.upload(bundle.bytes, .put, report: report, id: bundle.id, fields: token)
  }
}
