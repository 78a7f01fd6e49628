/// So much in so many seconds: what a ``TokenBucket`` counts against.
struct Allowance: Sendable, Hashable {
  let amount: Int
  let seconds: Int
}

extension RateLimit {
  var allowance: Allowance { Allowance(amount: count, seconds: seconds) }
}

extension UploadQuota {
  var allowance: Allowance { Allowance(amount: bytes, seconds: seconds) }
}
