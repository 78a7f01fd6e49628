import Foundation
package import SystemIO

/// Why a backup, a restore or a migration can't run.
package enum TransferError: Error, Sendable, CustomStringConvertible {
  /// There is no storage folder at this path.
  case noStorage(String)
  /// There is no backup at this path.
  case noBackup(String)
  /// A backup into this folder would overwrite other files.
  case foreignFolder(String)
  /// A restore needs an empty folder.
  case notEmpty(String)
  /// Another program uses this folder.
  case inUse(String)
  /// The copy of this folder would lack what it lacks itself: it was restored or backed up only in part.
  case incompleteStorage(String)
  /// No run of this backup was ever completed.
  case incompleteBackup(String)
  /// The folder has the backup of another storage.
  case otherStorage(String)
  /// One of the two folders contains the other.
  case nested(String, String)
  /// An archive is never changed.
  case exists(String)
  /// The file is not an archive, or is incomplete.
  case noArchive(String)
  /// The archive does not continue the one before it.
  case wrongOrder(String)
  /// A migration into this folder or object store would mix its snapshots with what is there already.
  case occupied(String)
  /// A migration from another storage has begun to copy to this place.
  case otherOrigin(String)
  /// Another run of a migration has begun to copy to the same place.
  case superseded(String)
  /// Another version of the program has begun the copy at this place, or the file that says so is damaged.
  case unknownFormat(String)
  /// A folder, a database or an object store can't be used as it is, for the reason in this sentence.
  case unusable(String)
  /// An object store or a database fails, for the reason in this sentence.
  case unavailable(String)
  case system(SystemError)

  /// Keeps errors of its own kind and of the system, and describes any other as a failure of `operation`.
  package init(_ error: any Error, operation: String, path: String) {
    self =
      switch error {
      case let error as TransferError: error
      case let error as SystemError: .system(error)
      default: .system(SystemError(operation: operation, path: path, code: POSIXErrorCode.EIO.rawValue))
      }
  }

  /// A sentence for people.
  package var description: String {
    switch self {
    case .noStorage(let place): "There is no storage folder \(place)."
    case .noBackup(let path): "There is no backup in \(path)."
    case .foreignFolder(let path):
      "\(path) contains files, and is not a backup; name a new or empty folder."
    case .notEmpty(let path): "\(path) is not empty; restore into a new or empty folder."
    case .inUse(let path): "Another program uses \(path): a server, a backup or a restore."
    case .incompleteStorage(let path):
      "\(path) lacks parts: a restore, a migration or a backup to it was interrupted. Run that again first."
    case .incompleteBackup(let path):
      """
      \(path) lacks parts: the backup was interrupted, or its file backup.json is damaged. Run `snapshot backup` again, \
      or restore what is there with --partial.
      """
    case .otherStorage(let path):
      """
      \(path) is the backup of another storage: its keys differ. If the key was replaced on purpose, remove \
      \(path)/keys/links.
      """
    case .nested(let first, let second): "One of \(first) and \(second) is inside the other."
    case .exists(let path): "\(path) exists already. An archive is never changed: name a new file."
    case .noArchive(let path): "\(path) is not an archive that `snapshot backup` has completed."
    case .wrongOrder(let path):
      """
      \(path) does not continue the archive before it. Name a complete archive first, and then those that continue it, \
      in order.
      """
    case .occupied(let place):
      """
      \(place) is not empty, and has no migration that could be continued; name a new or empty place. If a run with \
      --finish has succeeded, the migration is complete.
      """
    case .otherOrigin(let place):
      "\(place) is the incomplete copy of another storage; name a new or empty place."
    case .superseded(let place): "Another run has begun to copy to \(place), so this one has stopped."
    case .unknownFormat(let place):
      """
      Another version of snapshot has begun the copy at \(place), or its file backup.json is damaged; continue with that \
      version, or name an empty place.
      """
    case .unusable(let reason), .unavailable(let reason): reason
    case .system(let failure) where failure.isOutOfSpace:
      "A disk is full (\(failure)); free space, and run the command again."
    case .system(let failure): "\(failure)"
    }
  }
}
