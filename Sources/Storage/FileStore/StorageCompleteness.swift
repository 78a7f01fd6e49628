import SnapshotStore
package import SystemIO

/// Whether a folder with the layout of a storage folder has all of its parts, by the marks that backups, restores and
/// migrations leave in it until they are complete.
package enum StorageCompleteness: Sendable, Hashable {
  /// No mark: a storage folder, or a copy that another program has made.
  case storage
  /// A backup, or the copy of a migration.
  /// - Parameter isComplete: whether a run was ever completed, which a damaged mark does not say. Then everything that was
  ///   stored before it is there.
  case backup(isComplete: Bool)
  /// The copy of a migration from an object store that is not complete.
  case migrating
  /// The target of a restore that was interrupted.
  case restoring

  /// The name of the file that exists in a storage folder until it is restored.
  static let restoreMark = "incomplete-restore"

  /// Reads the marks in the folder at `path`.
  package init(of path: String) throws(SystemError) {
    if try Folder.exists("\(path)/\(Self.restoreMark)") {
      self = .restoring
      return
    }
    do {
      guard let marker = try BackupFolder(path).readMarker() else {
        self = .storage
        return
      }
      self = marker.origin == nil ? .backup(isComplete: marker.completeUntil != nil) : .migrating
    } catch let error where error.isDamage {
      self = .backup(isComplete: false)
    }
  }

  /// Whether parts are missing.
  var lacksParts: Bool {
    switch self {
    case .storage, .backup(isComplete: true): false
    case .backup(isComplete: false), .migrating, .restoring: true
    }
  }

  /// Throws the error of a store if a server can't use the folder.
  static func requireStorage(_ path: String) throws(FileBundleStore.OpeningError) {
    let completeness: Self
    do { completeness = try Self(of: path) } catch { throw .system(error) }
    switch completeness {
    case .storage: break
    case .backup: throw .backup(path: path)
    case .migrating: throw .migrating(path: path)
    case .restoring: throw .restoring(path: path)
    }
  }

  /// Throws ``/SnapshotStore/TransferError/incompleteStorage(_:)`` if the copy of a folder would lack parts.
  static func requireSource(_ path: String) throws(TransferError) {
    let completeness: Self
    do { completeness = try Self(of: path) } catch { throw .system(error) }
    if completeness.lacksParts { throw .incompleteStorage(path) }
  }
}
