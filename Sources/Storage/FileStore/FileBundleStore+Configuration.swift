import Foundation
package import SnapshotFormat
package import SnapshotStore
package import SystemIO

extension FileBundleStore {
  /// Where a store keeps its files, and how much it takes on at once.
  package struct Configuration: Sendable {
    /// The storage folder.
    package var path: String
    /// What a bundle must pass before it is published.
    package var validator: UploadValidator
    /// How many bytes of the disk are left free: an upload that would use them is refused as
    /// ``StoreError/outOfSpace``.
    package var reserve: Int64
    /// How many bytes of bundles are kept at most, with what is on its way in: more is refused as
    /// ``StoreError/quotaExceeded(limit:)``. `nil` is without a limit.
    package var quota: Int64?
    /// How many long uploads are written and hashed at once, at least 1.
    ///
    /// Hashing keeps a processor busy: with more of them than there are processors, whatever is short waits longer for
    /// one, and nothing is quicker.
    package var writers: Int
    /// How many files are flushed at once, at least 1.
    package var flushers: Int
    /// Whether uploads that end together share one flush of the whole volume, where that can be relied upon, rather
    /// than waiting for one of each file. Worth switching off where others write a lot to the same volume.
    package var sharesFlushes: Bool
    /// How much uploads that may be resumed take on.
    package var uploads = UploadLimits()
    /// Told how long every round of flushes took, on a thread of the store's.
    package var onFlush: @Sendable (Duration) -> Void = { _ in }
    /// Told of every record whose checksums were looked at after the answer: for the catalogue.
    package var onVerification: @Sendable (SnapshotRecord) async -> Void

    /// Settings for the storage at `path`.
    package init(
      path: String, validator: UploadValidator = UploadValidator(), reserve: Int64 = 64 << 20,
      quota: Int64? = nil, writers: Int = ProcessInfo.processInfo.activeProcessorCount,
      flushers: Int = 16, sharesFlushes: Bool = true,
      onVerification: @escaping @Sendable (SnapshotRecord) async -> Void = { _ in }
    ) {
      self.path = path
      self.validator = validator
      self.reserve = reserve
      self.quota = quota
      self.writers = writers
      self.flushers = flushers
      self.sharesFlushes = sharesFlushes
      self.onVerification = onVerification
    }
  }

  /// Why a storage folder can't be used.
  package enum OpeningError: Error, Sendable, CustomStringConvertible {
    /// Another server uses it.
    case inUse(path: String)
    /// The disk or the system failed.
    case system(SystemError)

    /// One sentence.
    package var description: String {
      switch self {
      case .inUse(let path):
        "The storage \(path) is in use by another server; two can't share one. Stop it, or choose another folder."
      case .system(let failure): "The storage can't be used: \(failure)"
      }
    }
  }
}
