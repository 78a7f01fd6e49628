import SnapshotFormat
import SnapshotStore
import SystemIO

/// What a restore reads: the folder of a backup, or archives.
protocol BackupSource: Sendable {
  /// Throws if the backup can't be restored into the folder `target`.
  func requireUsable(into target: String) throws(TransferError)
  /// Throws ``/SnapshotStore/TransferError/incompleteBackup(_:)`` if the backup is known to lack parts.
  func requireComplete() throws(TransferError)
  /// The names of the indexes that the backup should have.
  func expectedIndexes() throws(SystemError) -> [String]
  /// An index; `nil` if there is none.
  func index(_ name: String) throws(SystemError) -> FileSection?
  /// The kinds of files that each snapshot in a shard has.
  func kinds(in shard: SnapshotShard) throws(SystemError) -> [SnapshotID: Set<StorageLayout.Kind>]
  /// What the backup should have of a shard; `nil` if that is not known.
  func readIndex(_ shard: SnapshotShard) throws(SystemError) -> BackupIndex?
  /// A file of a snapshot; `nil` if there is none.
  func section(_ kind: StorageLayout.Kind, of id: SnapshotID) throws(SystemError) -> FileSection?
  /// Copies keys and tokens, and then all other files, to the folder `target`. Adds their number to the report, and names
  /// those that differ from the backup's index.
  func copyOtherFiles(
    to target: String, _ staged: StagedFiles, _ report: inout TransferReport
  ) throws(SystemError)
}

extension BackupSource {
  /// The indexes that are missing or damaged, without which a restore does not know what else is.
  func indexProblems() throws(SystemError) -> [TransferReport.FileProblem] {
    var problems: [TransferReport.FileProblem] = []
    for name in try expectedIndexes().sorted() {
      let path = "\(BackupFolder.indexName)/\(name)"
      guard let bytes = try index(name)?.read() else {
        problems.append(.init(path: path, kind: .missing))
        continue
      }
      let isIntact =
        name == FileIndex.name
        ? FileIndex(bytes) != nil : BackupIndex(text: String(decoding: bytes, as: UTF8.self)) != nil
      if !isIntact { problems.append(.init(path: path, kind: .damaged)) }
    }
    return problems
  }

  /// The record of a snapshot; `nil` if it is missing, damaged or that of another snapshot.
  func intactRecord(_ id: SnapshotID) throws(SystemError) -> (record: SnapshotRecord, bytes: [UInt8])? {
    guard let bytes = try section(.record, of: id)?.read() else { return nil }
    return RecordFile.intact(bytes, of: id).map { ($0, bytes) }
  }
}

extension RecordFile {
  /// The record in `bytes`; `nil` if it is damaged or that of another snapshot.
  static func intact(_ bytes: [UInt8], of id: SnapshotID) -> SnapshotRecord? {
    do {
      let record = try decode(bytes)
      return record.id == id ? record : nil
    } catch {
      return nil
    }
  }
}
