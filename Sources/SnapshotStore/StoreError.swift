public import SnapshotFormat
public import SystemIO

/// Why a store does not do what it was asked.
public enum StoreError: Error, Sendable {
  /// No bundle has that UUID.
  case notFound
  /// The bundle of that UUID was deleted.
  case deleted
  /// The UUID is taken by other bytes, or for another report.
  case conflict
  /// The UUID is taken, and the upload wanted to create it.
  case alreadyExists
  /// What arrived has another digest than the sender stated.
  case digestMismatch(expected: ContentDigest, actual: ContentDigest)
  /// What arrived is not a snapshot bundle.
  case invalid(BundleError)
  /// There is no room.
  case outOfSpace
  /// The disk or the system failed; for the log.
  case system(SystemError)
}
