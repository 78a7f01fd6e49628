import AccessControl
import Foundation
import HTTPEngine
import HTTPTypes
import Logging
import Observability
import SnapshotAPI
import SnapshotFormat
import SnapshotServer
import StoreTesting
import SystemIO
import TestSupport

/// The API over stores in memory or `shared`, with access control by tokens in a temporary folder.
struct GuardedAPI {
  let api: TestAPI
  let access: AccessPolicy
  let tokens: TokenStore
  let storage: String
  let clock: HandClock
  private let temporary: TemporaryFolder

  init(
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
  func token(
    _ scopes: Scope..., limits: CallerLimits = CallerLimits(), rate: RateLimit? = nil, expiresAt: Date? = nil
  ) throws -> (id: String, fields: HTTPFields) {
    let request = TokenStore.Request(
      scopes: Set(scopes), limits: limits, rate: rate, expiresAt: expiresAt)
    let (token, secret) = try tokens.create(request, now: clock.now)
    return (token.id, Self.bearer(secret))
  }

  /// Makes the last change of the tokens so old that they are not read again for each request.
  func settleTokens() throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date() - 60], ofItemAtPath: storage + "/tokens")
  }

  static func bearer(_ secret: String) -> HTTPFields { [.authorization: "Bearer \(secret)"] }

  /// Attaches `bundle` with a token.
  @discardableResult
  func attach(
    _ bundle: SampleBundle, report: String = "BUG-1", _ token: HTTPFields
  ) async throws -> TestAPI.Answer {
    try await api.upload(bundle.bytes, .put, report: report, id: bundle.id, fields: token)
  }
}

/// A clock that only advances when a test says so. Sleeping tasks let others run, and return.
final class HandClock: Sendable {
  private struct State {
    var passed = Duration.zero
    /// How far the time of day was set ahead.
    var ahead = Duration.zero
    var slept: [Duration] = []
  }

  private let state = Lock(State())
  /// A whole second, because dates are stored with millisecond precision.
  private let start = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))

  var now: Date { start.addingTimeInterval(state.withLock { $0.passed + $0.ahead } / .seconds(1)) }
  var slept: [Duration] { state.withLock { $0.slept } }

  /// The time that has passed, whatever the time of day is.
  var elapsed: Duration { state.withLock { $0.passed } }

  /// Changes the time of day only.
  func jump(_ time: Duration) { state.withLock { $0.ahead += time } }

  func pass(_ time: Duration) { state.withLock { $0.passed += time } }

  var accessClock: AccessClock {
    AccessClock(
      now: { self.now }, elapsed: { self.elapsed },
      sleep: { time in
        self.state.withLock { $0.slept.append(time) }
        await Task.yield()
      })
  }
}
