import AccessControl
import Foundation
import HTTPEngine
import HTTPTypes
import PostgreSQLClient
import PostgreSQLStore
import PostgreSQLTesting
import ServerTesting
import SnapshotServer
import StoreTesting
import SystemIO
import TestSupport
import Testing

/// Servers that share their snapshots count bytes against the same quotas.
@Suite struct SharedQuotaTests {
  /// Counters in memory, which do not refill.
  private final class Counters: SharedQuotas {
    private let state = Lock<(used: [String: Int], isAvailable: Bool, failures: Int)>(([:], true, 0))

    var used: [String: Int] { state.withLock { $0.used } }
    var failures: Int { state.withLock { $0.failures } }

    func setAvailable(_ isAvailable: Bool) { state.withLock { $0.isAvailable = isAvailable } }

    func count(_ uses: [QuotaUse]) async throws -> [Double] {
      try state.withLock { state in
        guard state.isAvailable else {
          state.failures += 1
          throw PostgreSQLError.timeout
        }
        return uses.map { use in
          state.used[use.key, default: 0] += use.bytes
          return Double(use.limit - (state.used[use.key] ?? 0))
        }
      }
    }
  }

  /// Runs `work` of a server, which keeps its quotas in agreement meanwhile, until a condition holds.
  private func watch(_ server: GuardedAPI, until isDone: () async throws -> Bool) async throws {
    let watch = Task { await server.access.watch() }
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await eventually(isDone)) } catch { outcome = .failure(error) }
    watch.cancel()
    await watch.value
    try outcome.get()
  }

  @Test(arguments: [true, false])
  func `what one server received counts on another, and after the counters were away`(
    isOfToken: Bool
  ) async throws {
    let counters = Counters()
    let bundle = try ZippedSample()
    let size = bundle.bytes.count
    let quota = try #require(UploadQuota(bytes: 3 * size + size / 2, seconds: 1_000_000))
    let keyPath = isOfToken ? \AccessRates.tokenQuota : \.addressQuota
    let one = try GuardedAPI {
      $0.sharedQuotas = counters
      $0.rates[keyPath: keyPath] = quota
    }
    let storage = one.storage
    let other = try GuardedAPI {
      ($0.sharedQuotas, $0.storage) = (counters, storage)
      $0.rates[keyPath: keyPath] = quota
    }
    let token = try one.token(.attach)
    let key = isOfToken ? "token/\(token.id)" : "address/127.0.0.1"
    counters.setAvailable(false)
    let bundles = try ["1", "2"].map { try ZippedSample($0) }
    for bundle in bundles { #expect(try await one.attach(bundle, token.fields).status == 201) }
    try await watch(one) { counters.failures > 1 }
    #expect(counters.used.isEmpty)
    counters.setAvailable(true)
    try await watch(one) { counters.used[key] ?? 0 > 0 }
    let before = try #require(counters.used[key])
    #expect(before == bundles.reduce(0) { $0 + $1.bytes.count })
    // The other server learns of it with its first bytes.
    #expect(try await other.attach(ZippedSample("3"), token.fields).status == 201)
    try await watch(other) { counters.used[key] ?? 0 > before }
    let refused = try await other.attach(ZippedSample("4"), token.fields)
    #expect(refused.kind == "upload-quota-exceeded")
  }

  @Test(.enabled("PostgreSQL isn't installed") { PostgreSQLServer.isInstalled })
  func `counters refill evenly, and start again with another quota`() async throws {
    try await withDatabase { configuration in
      let pool = PostgreSQLPool(configuration)
      defer { pool.close() }
      let (one, other) = (try await PostgreSQLQuotas(pool), try await PostgreSQLQuotas(pool))
      func use(_ key: String, _ bytes: Int, limit: Int = 1000) -> QuotaUse {
        QuotaUse(key: key, limit: limit, seconds: 1_000_000, bytes: bytes)
      }
      #expect(try await one.count([use("b", 100), use("a", 1)]) == [900, 999])
      #expect(try await other.count([use("a", 0), use("b", 1000)]) == [999, -100])
      try await pool.perform {
        try $0.execute("UPDATE snapshot_quotas_1.quota SET counted = counted - interval '300000 seconds'")
      }
      #expect(try await one.count([use("b", 0)]) == [200])
      #expect(try await one.count([use("b", 10, limit: 50)]) == [40])
      #expect(try await one.count([use("a", 0)]) == [1000])
    }
  }

  @Test(.enabled("PostgreSQL isn't installed") { PostgreSQLServer.isInstalled })
  func `servers count the same keys at the same time, and no byte is lost`() async throws {
    try await withDatabase { configuration in
      let pool = PostgreSQLPool(configuration)
      defer { pool.close() }
      let rows = try await PostgreSQLQuotas(pool)
      let uses = (0..<20).map { QuotaUse(key: "\($0)", limit: 1_000_000, seconds: 1_000_000, bytes: 1000) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<20 { group.addTask { _ = try await rows.count(uses.shuffled()) } }
        try await group.waitForAll()
      }
      let remaining = try await rows.count(
        uses.map { QuotaUse(key: $0.key, limit: $0.limit, seconds: $0.seconds, bytes: 0) })
      // Meanwhile, one byte comes back each second.
      #expect(remaining.allSatisfy { (980_000...980_300).contains($0) })
    }
  }
}
