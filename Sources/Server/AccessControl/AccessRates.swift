/// The rates and quotas of callers; `nil` means no limit.
package struct AccessRates: Sendable, Hashable {
  /// The rate limit for tokens without their own limit.
  package var token: RateLimit?
  /// The rate limit per address, if tokens are required.
  package var address: RateLimit?
  /// The upload quota for tokens without their own quota.
  package var tokenQuota: UploadQuota?
  /// The upload quota per address, if tokens are required.
  package var addressQuota: UploadQuota?

  /// Creates rates without limits.
  package init() {}
}
