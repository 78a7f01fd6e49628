package import SnapshotFormat
package import SnapshotStore

/// The settings for expiration and for the verification of stored bundles.
package struct RetentionSettings: Sendable, Hashable {
  /// The rules by which snapshots expire.
  package var rules = RetentionRules()
  /// How often the rules are applied.
  package var interval = TimeSpan.hour
  /// The most bytes that all bundles may have together; `nil` means no limit. Uploads that exceed it are refused.
  package var quotaBytes: Int64?
  /// How often every bundle is verified; `nil` verifies on request only.
  package var scrubInterval: TimeSpan? = .month
  /// The number of bytes read per second during the verification.
  package var scrubBytesPerSecond: Int64 = 10 << 20

  /// Creates the default settings.
  package init() {}
}
