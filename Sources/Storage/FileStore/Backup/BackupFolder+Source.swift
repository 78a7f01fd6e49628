import Foundation
import SnapshotFormat
import SnapshotStore
import SystemIO

extension BackupFolder: BackupSource {
  func requireUsable(into target: String) throws(TransferError) {
    try TransferError.requireNothingMisplaced(root)
    guard Folder.isFolder(layout.bundles) else { throw .noBackup(root) }
    try TransferError.requireApart(root, target)
  }

  func requireComplete() throws(TransferError) {
    let lacksParts: Bool
    do { lacksParts = try StorageCompleteness(of: root).lacksParts } catch {
      throw .system(error)
    }
    if lacksParts { throw .incompleteBackup(root) }
  }

  func expectedIndexes() throws(SystemError) -> [String] {
    // A partial restore reads a backup whose marker is damaged, too.
    do { return try readMarker()?.indexes ?? [] } catch
      where error.isDamage
    { return [] }
  }

  func kinds(in shard: SnapshotShard) throws(SystemError) -> [SnapshotID: Set<StorageLayout.Kind>] {
    try layout.kinds(in: shard)
  }

  func section(_ kind: StorageLayout.Kind, of id: SnapshotID) throws(SystemError) -> FileSection? {
    try FileSection(ifPresent: layout.path(kind, of: id))
  }

  func copyOtherFiles(
    to target: String, _ staged: StagedFiles, _ report: inout TransferReport
  ) throws(SystemError) {
    let check = FileCheck(try readFileIndex())
    report.otherFiles = try OtherFiles(source: root, target: target, staged: staged, observer: check).copy()
    report.fileProblems += check.problems
  }
}
