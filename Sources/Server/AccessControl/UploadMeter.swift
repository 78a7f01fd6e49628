package import HTTPEngine
import SystemIO

/// Counts what a caller uploads against its quotas, as it arrives.
package struct UploadMeter: Sendable {
  /// One quota, and where it is counted.
  struct Gauge: Sendable {
    /// What is counted together: `token` or `address`.
    let name: String
    let key: String
    let quota: UploadQuota
    let table: BucketTable<String>
  }

  let gauges: [Gauge]
  let clock: AccessClock

  /// Nothing is counted.
  package static let none = UploadMeter(gauges: [], clock: AccessClock())

  /// Refuses a body of `length` bytes that is bound to break a quota, before it comes.
  package func admit(_ length: Int64?) throws(HTTPProblem) {
    guard let length, let length = Int(exactly: length) else { return }
    for gauge in gauges {
      guard length <= gauge.quota.bytes else {
        throw HTTPProblem.tooLarge(limit: Int64(gauge.quota.bytes))
      }
      try require(gauge, gauge.table.look(gauge.key, gauge.quota.allowance, for: length, at: clock.elapsed()))
    }
  }

  /// The same body, each piece of it counted before it is handed on.
  package func counting(_ body: HTTPRequestBody) -> HTTPRequestBody {
    guard !gauges.isEmpty else { return body }
    return HTTPRequestBody(declaredLength: body.declaredLength, trailers: { body.trailers }) {
      // Where a body goes on is the body's own state, not its iterator's.
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
