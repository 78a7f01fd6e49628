import Foundation
import SnapshotFormat
package import SnapshotStore
import SystemIO

/// Copies a backup into an empty storage folder, and verifies every bundle.
///
/// Keys and tokens come first, so that a storage that is restored partly is never open to everybody. An interrupted run
/// can be repeated; until then servers refuse the storage. A folder that was copied by hand is a backup too, but only one
/// with an index shows what is missing.
package struct StorageRestore: Sendable {
  private let backup: any BackupSource
  private let target: StorageLayout
  private let isPartial: Bool

  /// - Parameters:
  ///   - paths: the folder of the backup; or archives, a complete one and then those that continue it.
  ///   - storage: the storage folder, which must be missing or empty.
  ///   - isPartial: whether to restore what is there of a backup that is not complete.
  package init(from paths: [String], into storage: String, isPartial: Bool = false) throws(TransferError) {
    if paths.count == 1, Folder.isFolder(paths[0]) {
      backup = BackupFolder(paths[0])
    } else {
      backup = try BackupArchives(paths, isPartial: isPartial)
    }
    target = StorageLayout(root: storage)
    self.isPartial = isPartial
  }

  /// Exists in a storage folder while it is incomplete.
  private var marker: String { "\(target.root)/\(StorageCompleteness.restoreMark)" }
  private var incomplete: String { target.root + "/incomplete" }

  /// Runs the restore. When it returns, everything is durable. Blocks.
  /// - Parameter progress: called often with the report so far.
  package func run(_ progress: (TransferReport) -> Void = { _ in }) throws(TransferError) -> TransferReport {
    do {
      if !isPartial { try backup.requireComplete() }
      try Folder.createDurably(target.root)
      try backup.requireUsable(into: target.root)
      try TransferError.requireNothingMisplaced(target.root)
      // An interrupted run can have left its lock alone.
      let names = Set(try Folder.entries(target.root)).subtracting(["lock"])
      guard names.isEmpty || names.contains(StorageCompleteness.restoreMark) else {
        throw TransferError.notEmpty(target.root)
      }
      guard let lock = try StorageLock(target) else { throw TransferError.inUse(target.root) }
      _ = try File(marker, .openOrCreate(mode: 0o600))
      try Folder.synchronize(target.root)
      let folder = try OpenFolder(target.root)
      try folder.removeTree("incomplete")
      for name in ["bundles", "incomplete"] { _ = try folder.makeFolder(at: name) }
      let report = try copy(progress)
      try folder.removeTree("incomplete")
      try Folder.removeIfPresent(marker)
      try Folder.synchronize(target.bundles)
      try Folder.synchronize(target.root)
      try lock.release()
      return report
    } catch {
      throw TransferError(error, operation: "restore", path: target.root)
    }
  }

  private func copy(_ progress: (TransferReport) -> Void) throws(SystemError) -> TransferReport {
    let staged = try StagedFiles(in: incomplete)
    var report = TransferReport()
    report.fileProblems = try backup.indexProblems()
    let isIndexed = try !backup.expectedIndexes().isEmpty
    try backup.copyOtherFiles(to: target.root, staged, &report)
    for shard in SnapshotShard.allCases {
      let (found, present) = (try backup.kinds(in: shard), try target.kinds(in: shard))
      let index = try backup.readIndex(shard) ?? BackupIndex()
      let ids = Set(found.keys).union(index.entries.keys)
      if !ids.isEmpty { try staged.makeFolder(target.folder(of: shard)) }
      for id in ids.sorted() {
        // A later run was interrupted before it had added the record.
        if isIndexed, index.entries[id] == nil, found[id] == [.bundle] { continue }
        try copy(id, found[id] ?? [], present[id] ?? [], index.entries[id], staged, &report)
        try staged.commitIfMany()
        progress(report)
      }
      try staged.commit()
      report.share = Double(shard.firstByte) / 256
      progress(report)
    }
    report.share = 1
    return report
  }

  private func copy(
    _ id: SnapshotID, _ found: Set<StorageLayout.Kind>, _ present: Set<StorageLayout.Kind>,
    _ expected: BackupIndex.Entry?, _ staged: StagedFiles, _ report: inout TransferReport
  ) throws(SystemError) {
    if found.contains(.tombstone) || expected == .deleted {
      if !present.contains(.tombstone) {
        try staged.add(try staged.copy([], mode: 0o600), as: target.path(.tombstone, of: id))
        report.deletions += 1
      }
      return
    }
    guard found.isSuperset(of: [.record, .bundle]) else {
      return report.add(found.contains(.damaged) ? .damaged : .missing, id)
    }
    guard let (record, bytes) = try backup.intactRecord(id), let source = try backup.section(.bundle, of: id)
    else { return report.add(.damaged, id) }
    if case .bundle(_, let digest, _) = expected, digest != record.sha256 { return report.add(.damaged, id) }
    if present.contains(.bundle), try target.intactBundle(id)?.sha256 == record.sha256 {
      return report.add(size: record.size)
    }
    let bundle = try staged.copy(source, mode: 0o440)
    guard bundle.size == record.size, bundle.sha256 == record.sha256 else {
      try staged.discard(bundle)
      return report.add(.damaged, id)
    }
    try staged.add(bundle, as: target.path(.bundle, of: id))
    try staged.add(try staged.copy(bytes, mode: 0o600), as: target.path(.record, of: id))
    report.copiedBundles += 1
    report.copiedBytes += bundle.size
    report.add(size: record.size)
  }
}
