import Foundation
package import SnapshotStore
import SystemIO

/// Moves a storage to another folder, for example on another disk, with a short interruption.
///
/// ``copy(_:)`` copies what is new while a server uses the storage, and can be called any number of times.
/// ``finish(leavingLosses:_:)`` needs the server to be stopped: it copies the rest, verifies every bundle of the copy,
/// and makes the copy a storage folder. The original is never changed.
package struct StorageMigration: Sendable {
  private let source: String
  private let target: BackupFolder

  /// - Parameters:
  ///   - source: the storage folder.
  ///   - target: the new storage folder: missing, empty, or that of an earlier run.
  package init(from source: String, to target: String) {
    self.source = source
    self.target = BackupFolder(target)
  }

  /// Copies what is new. Blocks.
  package func copy(
    _ progress: (TransferReport) -> Void = { _ in }
  ) throws(TransferError) -> TransferReport {
    try backup(rehashes: false).run(progress)
  }

  /// Copies the rest, also uploads that have not ended, verifies the copy, and makes it a storage folder. Blocks.
  /// - Parameter leavingLosses: whether to end although bundles are damaged or missing in the original, which the copy
  ///   does not contain.
  /// - Returns: the report. If it has losses that were not accepted, the copy is not a storage folder yet.
  package func finish(
    leavingLosses: Bool, _ progress: (TransferReport) -> Void = { _ in }
  ) throws(TransferError) -> TransferReport {
    try TransferError.requireSound(source)
    guard Folder.isFolder(source + "/bundles") else { throw .noStorage(source) }
    try StorageCompleteness.requireSource(source)
    do {
      guard let lock = try StorageLock(StorageLayout(root: source)) else { throw TransferError.inUse(source) }
      var report = try backup(rehashes: true).run(progress)
      if report.lossCount > 0, !leavingLosses { return report }
      let folder = try OpenFolder(target.root)
      _ = try folder.makeFolder(at: BackupFolder.incompleteName)
      let staged = try StagedFiles(in: target.incomplete)
      report.otherFiles += try OtherFiles(source: source, target: target.root, staged: staged).copyUploads()
      for name in [BackupFolder.incompleteName, BackupFolder.indexName] { try folder.removeTree(name) }
      // From here on, no further run is possible.
      try Folder.remove(target.marker)
      try Folder.synchronize(target.root)
      try lock.release()
      return report
    } catch {
      throw TransferError(error, operation: "migrate", path: source)
    }
  }

  private func backup(rehashes: Bool) -> StorageBackup {
    StorageBackup(of: source, to: target.root, rehashes: rehashes, bundleMode: 0o440)
  }
}
