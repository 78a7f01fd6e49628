import Foundation
package import SnapshotFormat
package import SnapshotStore
package import SystemIO

extension FileBundleStore {
  /// The folder of a store, its rules for bundles, and its limits.
  package struct Configuration: Sendable {
    /// The storage folder.
    package var path: String
    /// The checks that a bundle must pass before it is published.
    package var validator: UploadValidator
    /// The number of bytes of the disk to leave free: an upload that would use them is refused with
    /// ``StoreError/outOfSpace``.
    package var reserve: Int64
    /// The most bytes that stored bundles and arriving uploads may have together: more are refused with
    /// ``StoreError/quotaExceeded(limit:)``. `nil` means no limit.
    package var quota: Int64?
    /// The queues on which the store works.
    package var queues = ServerQueues()
    /// Whether uploads that end at the same time share one flush of the whole volume instead of a flush of each file,
    /// if the file system supports that reliably. Switch it off if other programs write a lot to the same volume.
    package var sharesFlushes: Bool
    /// Whether to repair the storage even if the last store closed it cleanly. Use it after files in `bundles/`
    /// were changed by other programs.
    package var repairs = false
    /// The limits of uploads.
    package var uploads = UploadLimits()
    /// Called with the duration of each round of flushes, on a thread of the store.
    package var onFlush: @Sendable (Duration) -> Void = { _ in }
    /// Called when an upload finds too little free space, on a thread that may block. If it frees space, the upload uses
    /// that.
    package var onShortage: @Sendable () -> Void = {}
    /// Called with each record whose checksums were verified after the response, for the catalogue.
    package var onVerification: @Sendable (SnapshotRecord) async -> Void

    /// Settings for the storage at `path`.
    package init(
      path: String, validator: UploadValidator = UploadValidator(), reserve: Int64 = 64 << 20,
      quota: Int64? = nil, sharesFlushes: Bool = true,
      onVerification: @escaping @Sendable (SnapshotRecord) async -> Void = { _ in }
    ) {
      self.path = path
      self.validator = validator
      self.reserve = reserve
      self.quota = quota
      self.sharesFlushes = sharesFlushes
      self.onVerification = onVerification
    }
  }

  /// Why a storage folder can't be used.
  package enum OpeningError: Error, Sendable, CustomStringConvertible {
    /// Another server uses it.
    case inUse(path: String)
    /// It is the target of a migration that is not complete.
    case migrating(path: String)
    /// Something in it is missing, or is not what it must be.
    case flawed(StorageFlaw)
    /// It is a backup, or the copy of a migration that is not complete.
    case backup(path: String)
    /// It was restored only in part.
    case restoring(path: String)
    /// The disk or the system failed.
    case system(SystemError)

    /// A sentence for people.
    package var description: String {
      switch self {
      case .inUse(let path):
        "The storage \(path) is in use by another server; two can't share one. Stop it, or choose another folder."
      case .migrating(let path):
        "The migration to \(path) is not complete: run `snapshot migrate` with --finish, or choose another folder."
      case .flawed(let flaw): flaw.description
      case .backup(let path):
        """
        \(path) is a backup, or the copy of a migration that is not complete: restore it with `snapshot restore`, or run \
        `snapshot migrate` with --finish.
        """
      case .restoring(let path):
        "\(path) was restored only in part: run `snapshot restore` again, or choose another folder."
      case .system(let failure): "The storage can't be used: \(failure)"
      }
    }
  }
}
