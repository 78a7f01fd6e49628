package import Foundation
import SnapshotFormat
package import SnapshotStore
import SystemIO

/// Writes a storage folder to one file, an archive in the format tar, also while a server uses it.
///
/// An archive contains everything, or what is new since another archive; a restore needs both then. It is written once
/// and never changed, and gets its name when it is complete and durable. Every bundle is hashed while it is copied, and
/// is added only if it has the digest that its record states.
package struct ArchiveBackup: Sendable {
  private static let logAttempts = 3

  private let source: StorageLayout
  private let path: String
  private let earlier: String?
  private let now: @Sendable () -> Date

  /// - Parameters:
  ///   - storage: the storage folder.
  ///   - path: the archive, which must not exist.
  ///   - earlier: the archive that this one continues; `nil` to copy everything.
  ///   - now: the time of day.
  package init(
    of storage: String, to path: String, since earlier: String? = nil,
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    source = StorageLayout(root: storage)
    self.path = path
    self.earlier = earlier
    self.now = now
  }

  private var incomplete: String { path + ".incomplete" }

  /// Writes the archive. When it returns, everything is durable. Blocks. An interrupted run leaves a file with the suffix
  /// `.incomplete`, which the next one replaces.
  /// - Parameter progress: called often with the report so far.
  package func run(_ progress: (TransferReport) -> Void = { _ in }) throws(TransferError) -> TransferReport {
    try TransferError.requireSound(source.root)
    guard Folder.isFolder(source.bundles) else { throw .noStorage(source.root) }
    try StorageCompleteness.requireSource(source.root)
    let earlier = try earlier.map { (path) throws(TransferError) in try BackupArchive(path) }
    do {
      guard try !Folder.exists(path) else { throw TransferError.exists(path) }
      let folder = Folder.parent(of: path)
      guard try !OpenFolder(folder).isInside(OpenFolder(source.root)) else {
        throw TransferError.nested(path, source.root)
      }
      try requireSameStorage(as: earlier)
      let file = try File(incomplete, .openOrCreate(mode: 0o600))
      guard try file.tryLock() else { throw TransferError.inUse(incomplete) }
      try file.truncate(to: 0)
      let report = try write(to: file, continuing: earlier, progress)
      try Folder.publish(incomplete, as: path)
      try Folder.synchronize(folder)
      return report
    } catch {
      throw TransferError(error, operation: "back up", path: path)
    }
  }

  private func requireSameStorage(as earlier: BackupArchive?) throws {
    let key = "keys/links"
    guard let earlier, let former = earlier.others[key]?.contents,
      let present = try FileSection(ifPresent: "\(source.root)/\(key)")
    else { return }
    if try former.read() != present.read() { throw TransferError.otherStorage(earlier.path) }
  }

  private func write(
    to file: File, continuing earlier: BackupArchive?, _ progress: (TransferReport) -> Void
  ) throws(SystemError) -> TransferReport {
    let began = now()
    var (writer, report, index) = (TarWriter(file), TransferReport(), FileIndex())
    var indexes = [FileIndex.name]
    // A server creates a key before the first token that needs it.
    for folder in ["tokens", "keys"] {
      for name in try OtherFiles.paths(in: source.root, below: folder) {
        report.otherFiles += try add(name, to: &writer, &index)
      }
    }
    for shard in SnapshotShard.allCases {
      if try add(shard, to: &writer, earlier, &report, progress) { indexes.append(shard.digits) }
      report.share = Double(shard.firstByte) / 256
      progress(report)
    }
    // Last, so that the audit of all bundles is there.
    report.otherFiles += try addLogsAndOthers(to: &writer, &index)
    try writer.add("\(BackupFolder.indexName)/\(FileIndex.name)", index.bytes)
    let marker = BackupFolder.Marker(
      completeUntil: began, bundles: report.bundles, bytes: report.bytes, indexes: indexes, archive: UUID(),
      follows: earlier?.marker.archive)
    try writer.add(BackupFolder.markerName, try marker.bytes(for: path))
    try writer.finish()
    report.share = 1
    return report
  }

  // MARK: Other files

  private func addLogsAndOthers(
    to writer: inout TarWriter, _ index: inout FileIndex
  ) throws(SystemError) -> Int {
    var count = 0
    // If a log is rotated meanwhile, all its files have other names. The last member with a name counts.
    for _ in 0..<Self.logAttempts {
      let log = "\(source.root)/\(OtherFiles.log)"
      let first = try Folder.file(at: log)?.identity
      count = 0
      for name in try OtherFiles.paths(in: source.root) {
        count += try add(name, to: &writer, &index)
      }
      if try Folder.file(at: log)?.identity == first { break }
    }
    return count
  }

  /// Adds a file if it still exists, and its digest to the index.
  /// - Returns: the number of added files.
  private func add(
    _ name: String, to writer: inout TarWriter, _ index: inout FileIndex
  ) throws(SystemError) -> Int {
    guard let contents = try FileSection(ifPresent: "\(source.root)/\(name)"), try contents.file.isRegular
    else { return 0 }
    guard let digest = try writer.add(name, contents, modified: contents.file.modifiedAt / 1000) else {
      return 0
    }
    index.digests[name] = [digest]
    return 1
  }

  // MARK: Snapshots

  /// Adds what is new in a shard.
  /// - Returns: whether there is an index of the shard.
  private func add(
    _ shard: SnapshotShard, to writer: inout TarWriter, _ earlier: BackupArchive?,
    _ report: inout TransferReport, _ progress: (TransferReport) -> Void
  ) throws(SystemError) -> Bool {
    let found = try source.kinds(in: shard)
    let former = try earlier?.readIndex(shard) ?? BackupIndex()
    var index = BackupIndex()
    for id in Set(found.keys).union(former.entries.keys).sorted() {
      let item = Item(id: id, found: found[id] ?? [], former: former.entries[id])
      index.entries[id] = try add(item, to: &writer, &report)
      progress(report)
    }
    guard !index.entries.isEmpty else { return false }
    try writer.add("\(BackupFolder.indexName)/\(shard.digits)", Array(index.text.utf8))
    return true
  }

  /// A snapshot in the storage, in earlier archives, or in both.
  private struct Item {
    let id: SnapshotID
    /// Its files in the storage.
    let found: Set<StorageLayout.Kind>
    /// What the index of the earlier archive states.
    let former: BackupIndex.Entry?

    func name(_ kind: StorageLayout.Kind) -> String {
      "bundles/\(SnapshotShard(of: id).digits)/\(id).\(kind.rawValue)"
    }
  }

  /// Adds what is new of a snapshot.
  /// - Returns: what this archive and the earlier ones have; `nil` if they have nothing.
  private func add(
    _ item: Item, to writer: inout TarWriter, _ report: inout TransferReport
  ) throws(SystemError) -> BackupIndex.Entry? {
    if item.found.contains(.tombstone) || (item.former == .deleted && !item.found.contains(.record)) {
      if item.former != .deleted { report.deletions += 1 }
      return .deleted
    }
    guard let file = try FileSection(ifPresent: source.path(.record, of: item.id)) else {
      return try keepUnlessDeleted(item, to: &writer, &report)
    }
    let stamp = BackupIndex.RecordStamp(size: file.size, modified: try file.file.modifiedNanoseconds)
    var kept: ContentDigest?
    if case .bundle(let size, let digest, let formerStamp) = item.former {
      if formerStamp == stamp, item.found.contains(.bundle) {
        report.add(size: size)
        return item.former
      }
      kept = digest
    }
    let bytes = try file.read()
    guard let record = RecordFile.intact(bytes, of: item.id) else { return keep(item, or: .damaged, &report) }
    if kept == record.sha256 {
      if !item.found.contains(.bundle) { report.add(.kept, item.id) }
      report.changedRecords += 1
    } else {
      guard let bundle = try FileSection(ifPresent: source.path(.bundle, of: item.id)) else {
        // It was deleted in the meantime, was set aside, or is lost.
        return try keepUnlessDeleted(item, to: &writer, &report)
      }
      guard bundle.size == record.size,
        try writer.add(item.name(.bundle), bundle, expecting: record.sha256) != nil
      else { return keep(item, or: .damaged, &report) }
      report.copiedBundles += 1
      report.copiedBytes += record.size
    }
    try writer.add(item.name(.record), bytes)
    report.add(size: record.size)
    return .bundle(size: record.size, sha256: record.sha256, record: stamp)
  }

  /// Leaves a snapshot of which a file is missing as the earlier archives have it, unless it was deleted in the meantime.
  private func keepUnlessDeleted(
    _ item: Item, to writer: inout TarWriter, _ report: inout TransferReport
  ) throws(SystemError) -> BackupIndex.Entry? {
    let now = Item(id: item.id, found: try source.kinds(of: item.id), former: item.former)
    if now.found.contains(.tombstone) { return try add(now, to: &writer, &report) }
    return keep(now, or: now.found.contains(.damaged) ? .damaged : .missing, &report)
  }

  /// Leaves a snapshot that the storage does not have intact as the earlier archives have it.
  private func keep(
    _ item: Item, or problem: TransferReport.Problem.Kind, _ report: inout TransferReport
  ) -> BackupIndex.Entry? {
    if case .bundle(let size, _, _) = item.former {
      report.add(.kept, item.id)
      report.add(size: size)
    } else if !item.found.isEmpty, !item.found.isBeingPublished {
      report.add(problem, item.id)
    }
    return item.former
  }
}
