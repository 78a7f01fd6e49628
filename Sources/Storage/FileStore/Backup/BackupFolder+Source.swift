import SnapshotFormat
import SnapshotStore
import SystemIO

extension BackupFolder: BackupSource {
  func requireUsable(into target: String) throws(TransferError) {
    try TransferError.requireNothingMisplaced(root)
    guard Folder.isFolder(layout.bundles) else { throw .noBackup(root) }
    try TransferError.requireApart(root, target)
  }

  func kinds(in shard: SnapshotShard) throws(SystemError) -> [SnapshotID: Set<StorageLayout.Kind>] {
    try layout.kinds(in: shard)
  }

  func section(_ kind: StorageLayout.Kind, of id: SnapshotID) throws(SystemError) -> FileSection? {
    try FileSection(ifPresent: layout.path(kind, of: id))
  }

  func copyOtherFiles(to target: String, _ staged: StagedFiles) throws(SystemError) -> Int {
    try OtherFiles(source: root, target: target, staged: staged).copy()
  }
}
