import Foundation
package import SnapshotFormat
package import SystemIO

/// The result of a backup or of a restore.
package struct TransferReport: Sendable, Codable, Equatable {
  /// A snapshot that was not copied as it should have been.
  package struct Problem: Sendable, Codable, Equatable {
    package enum Kind: String, Sendable, Codable {
      /// Its bundle does not have the digest that its record states, or its record is damaged. It was not copied.
      case damaged
      /// Its bundle or its record does not exist. It was not copied.
      case missing
      /// It is damaged or missing in the storage, and the backup keeps its intact copy.
      case kept
    }

    package let id: SnapshotID
    package let kind: Kind
  }

  /// The bundles that the copy contains now, and their bytes.
  package internal(set) var bundles = 0
  package internal(set) var bytes: Int64 = 0
  /// The bundles that this run copied, and their bytes.
  package internal(set) var copiedBundles = 0
  package internal(set) var copiedBytes: Int64 = 0
  /// The records of bundles copied before that were copied again, because they have changed.
  package internal(set) var changedRecords = 0
  /// The deleted snapshots whose deletion is new in the copy.
  package internal(set) var deletions = 0
  /// The other files that were copied: tokens, keys and logs.
  package internal(set) var otherFiles = 0
  package internal(set) var problems: [Problem] = []
  /// The share of the store that was done, from 0 to 1.
  package internal(set) var share = 0.0

  mutating func add(size: Int64) {
    bundles += 1
    bytes += size
  }

  mutating func note(_ kind: Problem.Kind, _ id: SnapshotID) { problems.append(Problem(id: id, kind: kind)) }
}

/// Why a backup or a restore can't run.
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
  case system(SystemError)

  /// Keeps errors of its own kind and of the system, and describes any other as a failure of `operation`.
  init(_ error: any Error, operation: String, path: String) {
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
    case .noStorage(let path): "There is no storage folder \(path)."
    case .noBackup(let path): "There is no backup in \(path)."
    case .foreignFolder(let path):
      "\(path) contains files, and is not a backup; name a new or empty folder."
    case .notEmpty(let path): "\(path) is not empty; restore into a new or empty folder."
    case .inUse(let path): "Another program uses \(path): a server, a backup or a restore."
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
    case .system(let failure): "\(failure)"
    }
  }
}
