package import HTTPEngine
import SystemIO

/// Counts the bytes that a caller uploads against its quotas, as they arrive.
package struct UploadMeter: Sendable {
  /// A quota and its counters.
  struct Gauge: Sendable {
    /// What shares the quota: `token` or `address`.
    let name: String
    let key: String
    let quota: UploadQuota
    let table: BucketTable<String>
  }

  let gauges: [Gauge]
  let clock: AccessClock

  /// A meter that counts nothing.
  package static let none = UploadMeter(gauges: [], clock: AccessClock())

  /// Throws if a body of `length` bytes would exceed a quota, before it is read.
  package func admit(_ length: Int64?) throws(HTTPProblem) {
    guard let length, let length = Int(exactly: length) else { return }
    for gauge in gauges {
      guard length <= gauge.quota.bytes else {
        throw HTTPProblem.tooLarge(limit: Int64(gauge.quota.bytes))
      }
      try require(gauge, gauge.table.look(gauge.key, gauge.quota.allowance, for: length, at: clock.elapsed()))
    }
  }

  /// Returns the same body, counting each piece before it is returned.
  package func counting(_ body: HTTPRequestBody) -> HTTPRequestBody {
    guard !gauges.isEmpty else { return body }
    return HTTPRequestBody(declaredLength: body.declaredLength, trailers: { body.trailers }) {
      // The position is part of the body, not of its iterator.
      var iterator = body.makeAsyncIterator()
      guard let piece = try await iterator.next() else { return nil }
      for gauge in gauges {
        try require(
          gauge, gauge.table.take(gauge.key, gauge.quota.allowance, piece.count, at: clock.elapsed()))
      }
      return piece
    }
  }

  private func require(_ gauge: Gauge, _ verdict: TokenBucket.Verdict) throws(HTTPProblem) {
    guard verdict.isAllowed else { throw HTTPProblem.tooManyBytes(verdict, of: gauge.name) }
  }
}
