package import Foundation
import SnapshotFormat
package import SnapshotStore
import SystemIO

/// Copies a storage folder to a backup, also while a server uses it.
///
/// A run copies what is new: bundles never change, and records only as a whole. Every bundle is hashed while it is
/// copied, and is added only if it has the digest that its record states; bundle first, record last. Files that were
/// lost or damaged in the storage are kept in the backup; only a deletion removes them. An interrupted run leaves
/// nothing incomplete under a final name, and the next one continues. Until the first one is completed, the file
/// `backup.json` marks the backup as incomplete.
package struct StorageBackup: Sendable {
  private let source: StorageLayout
  private let backup: BackupFolder
  private let rehashes: Bool
  private let bundleMode: UInt16
  private let now: @Sendable () -> Date

  /// - Parameters:
  ///   - storage: the storage folder.
  ///   - folder: the folder of the backup, which is created if it is missing.
  ///   - rehashes: whether to read and verify what the backup has already.
  ///   - bundleMode: the permissions of copied bundles.
  ///   - now: the time of day.
  package init(
    of storage: String, to folder: String, rehashes: Bool = false, bundleMode: UInt16 = 0o600,
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    source = StorageLayout(root: storage)
    backup = BackupFolder(folder)
    self.rehashes = rehashes
    self.bundleMode = bundleMode
    self.now = now
  }

  /// Runs the backup. When it returns, everything is durable. Blocks.
  /// - Parameter progress: called often with the report so far.
  package func run(_ progress: (TransferReport) -> Void = { _ in }) throws(TransferError) -> TransferReport {
    let began = now()
    try TransferError.requireSound(source.root)
    guard Folder.isFolder(source.bundles) else { throw .noStorage(source.root) }
    try StorageCompleteness.requireSource(source.root)
    let lock = try prepare()
    do {
      let report = try copy(progress, began)
      try lock.unlock()
      return report
    } catch {
      throw .system(error)
    }
  }

  /// When the last complete run of a backup began; `nil` if none was completed. What was stored before is in the backup.
  /// - Parameter backup: a folder or an archive.
  package static func lastCompletion(of backup: String) throws(TransferError) -> Date? {
    if Folder.isRegularFile(backup) { return try BackupArchive(backup).marker.completeUntil }
    try TransferError.requireNothingMisplaced(backup)
    do {
      if let marker = try BackupFolder(backup).readMarker() { return marker.completeUntil }
    } catch let error where error.isDamage {
      throw .unknownFormat(backup)
    } catch {
      throw .system(error)
    }
    throw .noBackup(backup)
  }

  /// Creates and locks the folder of the backup.
  private func prepare() throws(TransferError) -> File {
    do {
      try Folder.createDurably(backup.root)
    } catch {
      throw .system(error)
    }
    try TransferError.requireApart(source.root, backup.root)
    try TransferError.requireNothingMisplaced(backup.root)
    do {
      let lock = try File(backup.root)
      guard try lock.tryLock() else { throw TransferError.inUse(backup.root) }
      if let marker = try backup.readMarker() {
        guard marker.origin == nil else { throw TransferError.otherOrigin(backup.root) }
      } else {
        guard try Folder.entries(backup.root).isEmpty else { throw TransferError.foreignFolder(backup.root) }
        try lock.setMode(0o700)
        try backup.write(BackupFolder.Marker())
      }
      let key = "/keys/links"
      if try Folder.exists(source.root + key), try Folder.exists(backup.root + key),
        try File(source.root + key).read(upTo: 1024, at: 0) != File(backup.root + key).read(upTo: 1024, at: 0)
      {
        throw TransferError.otherStorage(backup.root)
      }
      try backup.prepare()
      return lock
    } catch let error as SystemError where error.isDamage {
      throw .unknownFormat(backup.root)
    } catch {
      throw TransferError(error, operation: "prepare", path: backup.root)
    }
  }

  private func copy(
    _ progress: (TransferReport) -> Void, _ began: Date
  ) throws(SystemError) -> TransferReport {
    let staged = try StagedFiles(in: backup.incomplete)
    let ledger = try FileLedger(backup, rehashes: rehashes)
    staged.willCommit = { () throws(SystemError) in try ledger.save() }
    let others = OtherFiles(source: source.root, target: backup.root, staged: staged, observer: ledger)
    var report = TransferReport()
    report.otherFiles = try others.copy()
    for shard in SnapshotShard.allCases {
      try copy(shard, staged, &report, progress)
      report.share = Double(shard.firstByte) / 256
      progress(report)
    }
    // What was stored before `began` is in the backup now, also the audit of it.
    report.otherFiles += try others.copy()
    try ledger.finish()
    try backup.removeIncomplete()
    try Folder.synchronize(backup.layout.bundles)
    try backup.write(
      BackupFolder.Marker(
        completeUntil: began, bundles: report.bundles, bytes: report.bytes, indexes: backup.indexes()))
    report.share = 1
    return report
  }

  private func copy(
    _ shard: SnapshotShard, _ staged: StagedFiles, _ report: inout TransferReport,
    _ progress: (TransferReport) -> Void
  ) throws(SystemError) {
    let found = try source.kinds(in: shard)
    let present = try backup.layout.kinds(in: shard)
    let former = try backup.readIndex(shard)
    var index = BackupIndex()
    let ids = Set(found.keys).union(present.keys).union(former?.entries.keys.map(\.self) ?? [])
    if ids.isEmpty { return }
    try staged.makeFolder(backup.layout.folder(of: shard))
    for id in ids.sorted() {
      let item = Item(
        id: id, found: found[id] ?? [], present: present[id] ?? [], former: former?.entries[id])
      index.entries[id] = try copy(item, staged, &report)
      try staged.commitIfMany()
      progress(report)
    }
    try staged.commit()
    if index != former { try backup.write(index, of: shard) }
  }

  /// A snapshot in the storage, in the backup, or in both.
  private struct Item {
    let id: SnapshotID
    /// Its files in the storage, and those in the backup.
    var found: Set<StorageLayout.Kind>
    let present: Set<StorageLayout.Kind>
    /// What the backup's index states.
    let former: BackupIndex.Entry?

    /// Whether the storage has deleted the snapshot, or has lost a snapshot that the backup knows to be deleted. A
    /// storage that was restored from an older backup has snapshots again whose deletion a newer one has.
    var isDeleted: Bool {
      found.contains(.tombstone) || (present.contains(.tombstone) && !found.contains(.record))
    }
  }

  /// Copies what is new of a snapshot.
  /// - Returns: what the backup has then; `nil` if it has nothing.
  private func copy(
    _ item: Item, _ staged: StagedFiles, _ report: inout TransferReport
  ) throws(SystemError) -> BackupIndex.Entry? {
    let id = item.id
    if item.isDeleted { return try delete(item, staged, &report) }
    guard let file = try File.ifPresent(source.path(.record, of: id)) else {
      return try keepUnlessDeleted(item, staged, &report)
    }
    let stamp = BackupIndex.RecordStamp(size: try file.size, modified: try file.modifiedNanoseconds)
    let kept = try intactCopy(item)
    if let kept, item.found.contains(.bundle), !rehashes,
      item.former == .bundle(size: kept.size, sha256: kept.sha256, record: stamp)
    {
      report.add(size: kept.size)
      return item.former
    }
    let bytes = try file.read(upTo: Int(stamp.size), at: 0)
    guard let record = RecordFile.intact(bytes, of: id) else { return try keep(item, or: .damaged, &report) }
    let bundle: StagedFiles.Copy?
    if kept?.sha256 == record.sha256 {
      if !item.found.contains(.bundle) { report.add(.kept, id) }
      bundle = nil
    } else {
      guard let file = try File.ifPresent(source.path(.bundle, of: id)) else {
        // It was deleted in the meantime, was set aside, or is lost.
        return try keepUnlessDeleted(item, staged, &report)
      }
      let copy = try staged.copy(FileSection(file), mode: bundleMode)
      guard copy.size == record.size, copy.sha256 == record.sha256 else {
        try staged.discard(copy)
        return try keep(item, or: .damaged, &report)
      }
      bundle = copy
    }
    if let bundle {
      try staged.add(bundle, as: backup.layout.path(.bundle, of: id))
      report.copiedBundles += 1
      report.copiedBytes += bundle.size
    }
    if try !hasRecord(item, bytes) {
      try staged.add(try staged.copy(bytes, mode: 0o600), as: backup.layout.path(.record, of: id))
      if bundle == nil { report.changedRecords += 1 }
    }
    if item.present.contains(.tombstone) { staged.remove(backup.layout.path(.tombstone, of: id)) }
    report.add(size: record.size)
    return .bundle(size: record.size, sha256: record.sha256, record: stamp)
  }

  private func delete(
    _ item: Item, _ staged: StagedFiles, _ report: inout TransferReport
  ) throws(SystemError) -> BackupIndex.Entry {
    if !item.present.contains(.tombstone) {
      try staged.add(try staged.copy([], mode: 0o600), as: backup.layout.path(.tombstone, of: item.id))
      report.deletions += 1
    }
    for kind in StorageLayout.Kind.allCases where kind != .tombstone && item.present.contains(kind) {
      staged.remove(backup.layout.path(kind, of: item.id))
    }
    return .deleted
  }

  /// Leaves the backup as it is, for a snapshot of which a file is missing, unless it was deleted in the meantime.
  private func keepUnlessDeleted(
    _ item: Item, _ staged: StagedFiles, _ report: inout TransferReport
  ) throws(SystemError) -> BackupIndex.Entry? {
    var item = item
    item.found = try source.kinds(of: item.id)
    if item.isDeleted { return try delete(item, staged, &report) }
    return try keep(item, or: item.found.contains(.damaged) ? .damaged : .missing, &report)
  }

  /// Leaves the backup as it is, for a snapshot that the storage does not have intact.
  private func keep(
    _ item: Item, or problem: TransferReport.Problem.Kind, _ report: inout TransferReport
  ) throws(SystemError) -> BackupIndex.Entry? {
    if let kept = try intactCopy(item) {
      report.add(.kept, item.id)
      report.add(size: kept.size)
      return item.former
        ?? .bundle(
          size: kept.size, sha256: kept.sha256, record: BackupIndex.RecordStamp(size: 0, modified: 0))
    }
    if item.former == nil, item.found.isEmpty || item.found.isBeingPublished { return nil }
    report.add(problem, item.id)
    return item.former
  }

  /// The size and digest of the bundle in the backup, if it is there and intact. The index vouches for a bundle that an
  /// earlier run has copied.
  private func intactCopy(_ item: Item) throws(SystemError) -> (size: Int64, sha256: ContentDigest)? {
    guard item.present.isSuperset(of: [.record, .bundle]) else { return nil }
    let path = backup.layout.path(.bundle, of: item.id)
    if !rehashes, case .bundle(let size, let digest, _) = item.former {
      return try Folder.size(of: path) == size ? (size, digest) : nil
    }
    return try backup.layout.intactBundle(item.id).map { ($0.size, $0.sha256) }
  }

  private func hasRecord(_ item: Item, _ bytes: [UInt8]) throws(SystemError) -> Bool {
    guard item.present.contains(.record) else { return false }
    return try File(backup.layout.path(.record, of: item.id)).read(upTo: bytes.count + 1, at: 0) == bytes
  }
}

extension TransferError {
  /// Throws ``nested(_:_:)`` if one of two folders contains the other.
  static func requireApart(_ first: String, _ second: String) throws(TransferError) {
    let areNested: Bool
    do {
      let folders = (try OpenFolder(first), try OpenFolder(second))
      let isInside = (try folders.0.isInside(folders.1), try folders.1.isInside(folders.0))
      areNested = isInside.0 || isInside.1
    } catch {
      throw .system(error)
    }
    if areNested { throw .nested(first, second) }
  }
}
