import Logging

/// The bytes that one server counted against a quota since it last reported them.
package struct QuotaUse: Sendable, Hashable {
  /// What has the quota.
  package let key: String
  /// The number of bytes that are allowed in ``seconds``.
  package let limit: Int
  /// The period of the quota.
  package let seconds: Int
  /// The number of bytes that were counted, possibly 0.
  package let bytes: Int

  /// Creates a use from its parts.
  package init(key: String, limit: Int, seconds: Int, bytes: Int) {
    (self.key, self.limit, self.seconds, self.bytes) = (key, limit, seconds, bytes)
  }
}

/// The counters of quotas that several servers share.
package protocol SharedQuotas: Sendable {
  /// Counts the bytes of `uses`, which have different keys, and returns the bytes that remain of each, in the same order.
  /// They are negative if the servers together have counted too many. Throws if the counters do not answer; it is unknown
  /// then whether the bytes were counted.
  func count(_ uses: [QuotaUse]) async throws -> [Double]
}

/// The counters of the quotas of tokens and of addresses.
///
/// Every server counts in memory. Servers that share their snapshots report their counts about once a second, and continue
/// with what remains for all of them. So together they can exceed a quota by what arrives within a second. While the
/// shared counters do not answer, each server counts for itself.
final class QuotaTables: Sendable {
  let tokens: BucketTable<String>
  let addresses: BucketTable<String>
  private let shared: (any SharedQuotas)?
  private let clock: AccessClock
  private let logger: Logger

  init(capacity: Int, shared: (any SharedQuotas)?, clock: AccessClock, logger: Logger) {
    tokens = BucketTable(capacity: capacity)
    addresses = BucketTable(capacity: capacity)
    (self.shared, self.clock, self.logger) = (shared, clock, logger)
  }

  /// Whether other servers count against the same quotas.
  var isShared: Bool { shared != nil }

  /// Reports what was counted, and reads what remains for all servers.
  func exchange() async {
    guard let shared else { return }
    for (kind, table) in [("token", tokens), ("address", addresses)] {
      let uses = table.takeUses()
      guard !uses.isEmpty else { continue }
      do {
        let remaining = try await shared.count(
          uses.map { use in
            QuotaUse(
              key: "\(kind)/\(use.key)", limit: use.allowance.amount, seconds: use.allowance.seconds,
              bytes: use.amount)
          })
        for (use, level) in zip(uses, remaining) { table.set(level, of: use, at: clock.elapsed()) }
      } catch {
        table.putBack(uses)
        logger.warning(
          "The quotas can't be compared with those of other servers", metadata: ["error": "\(error)"])
      }
    }
  }
}
