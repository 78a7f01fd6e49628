import Foundation
import SnapshotFormat
import SnapshotStore
import SystemIO

/// An archive that ``ArchiveBackup`` has completed. Its members have the names of the files in the folder of a backup:
/// extracted by `tar`, several in their order, they are one.
///
/// Some 100 bytes of memory are used for each snapshot.
struct BackupArchive: Sendable {
  /// The files of one snapshot.
  struct Files: Sendable {
    var record: FileSection?
    var bundle: FileSection?
  }

  /// A file that belongs to no snapshot.
  struct OtherFile: Sendable {
    let contents: FileSection
    /// In milliseconds since 1970.
    let modified: Int64
  }

  let path: String
  let marker: BackupFolder.Marker
  private(set) var snapshots: [SnapshotShard: [SnapshotID: Files]] = [:]
  private(set) var others: [String: OtherFile] = [:]
  private var indexes: [String: FileSection] = [:]

  /// Reads the headers of all members.
  /// - Parameter isPartial: whether an archive is accepted that is not complete. It has no identity then.
  init(_ path: String, isPartial: Bool = false) throws(TransferError) {
    self.path = path
    var marker: BackupFolder.Marker?
    var isForeign = false
    var (snapshots, others, indexes) = (snapshots, others, indexes)
    let isComplete: Bool
    do {
      isComplete = try TarReader(file: File(path)).forEachMember { header, contents throws(SystemError) in
        let parts = header.name.split(separator: "/", omittingEmptySubsequences: false)
        let folder = parts.dropLast().joined(separator: "/")
        let name = parts.last.map { String($0) } ?? ""
        if header.name == BackupFolder.markerName {
          marker = try BackupFolder.Marker(
            try contents.file.read(
              upTo: min(Int(contents.size), BackupFolder.Marker.maximumBytes), at: contents.range.lowerBound),
            path: path)
        } else if folder == BackupFolder.indexName {
          indexes[name] = contents
        } else if parts.count == 3, parts[0] == "bundles" {
          switch StorageLayout.parse(name, in: folder) {
          case (let id, .record)?:
            snapshots[SnapshotShard(of: id), default: [:]][id, default: Files()].record = contents
          case (let id, .bundle)?:
            snapshots[SnapshotShard(of: id), default: [:]][id, default: Files()].bundle = contents
          default: isForeign = true
          }
        } else if OtherFiles.isPathCopied(header.name) {
          others[header.name] = OtherFile(contents: contents, modified: header.modified * 1000)
        } else {
          isForeign = true
        }
      }
    } catch  where error.isNotFound {
      throw .noBackup(path)
    } catch {
      throw .system(error)
    }
    let isWhole = isComplete && marker?.archive != nil
    guard !isForeign, isWhole || isPartial && !(snapshots.isEmpty && others.isEmpty) else {
      throw .noArchive(path)
    }
    self.marker = marker ?? BackupFolder.Marker()
    (self.snapshots, self.others, self.indexes) = (snapshots, others, indexes)
  }

  /// An index; `nil` if there is none.
  func index(_ name: String) -> FileSection? { indexes[name] }

  /// What the archive and those before it have of a shard.
  func readIndex(_ shard: SnapshotShard) throws(SystemError) -> BackupIndex? {
    try index(shard.digits).flatMap { (section) throws(SystemError) in
      BackupIndex(text: String(decoding: try section.read(), as: UTF8.self))
    }
  }

  /// The index of the files that belong to no snapshot; `nil` if it is missing or damaged.
  func readFileIndex() throws(SystemError) -> FileIndex? {
    try index(FileIndex.name).flatMap { (section) throws(SystemError) in FileIndex(try section.read()) }
  }
}

/// Archives of one storage: a complete one, and those that continue it, in order.
struct BackupArchives: BackupSource {
  private let archives: [BackupArchive]
  private var newest: BackupArchive { archives[archives.count - 1] }

  /// Opens the archives, at least one.
  /// - Parameter isPartial: whether the last one may be incomplete.
  /// - Throws: ``TransferError/wrongOrder(_:)`` if one does not continue the one before it.
  init(_ paths: [String], isPartial: Bool = false) throws(TransferError) {
    var archives: [BackupArchive] = []
    for path in paths {
      let archive = try BackupArchive(path, isPartial: isPartial && path == paths.last)
      let isTorn = archive.marker.archive == nil
      guard isTorn || archive.marker.follows == archives.last?.marker.archive else { throw .wrongOrder(path) }
      archives.append(archive)
    }
    guard !archives.isEmpty else { throw .noBackup("") }
    self.archives = archives
  }

  func requireUsable(into target: String) {}

  /// Archives that are not complete are only opened for a partial restore.
  func requireComplete() {}

  func expectedIndexes() -> [String] { newest.marker.indexes ?? [] }

  func index(_ name: String) -> FileSection? { newest.index(name) }

  func kinds(in shard: SnapshotShard) -> [SnapshotID: Set<StorageLayout.Kind>] {
    var kinds: [SnapshotID: Set<StorageLayout.Kind>] = [:]
    for archive in archives {
      for (id, files) in archive.snapshots[shard] ?? [:] {
        if files.record != nil { kinds[id, default: []].insert(.record) }
        if files.bundle != nil { kinds[id, default: []].insert(.bundle) }
      }
    }
    return kinds
  }

  func readIndex(_ shard: SnapshotShard) throws(SystemError) -> BackupIndex? { try newest.readIndex(shard) }

  func section(_ kind: StorageLayout.Kind, of id: SnapshotID) -> FileSection? {
    let all = archives.reversed().lazy.compactMap { $0.snapshots[SnapshotShard(of: id)]?[id] }
    return switch kind {
    case .record: all.compactMap(\.record).first
    case .bundle: all.compactMap(\.bundle).first
    case .damaged, .unpublished, .tombstone: nil
    }
  }

  func copyOtherFiles(
    to target: String, _ staged: StagedFiles, _ report: inout TransferReport
  ) throws(SystemError) {
    for folder in OtherFiles.exact {
      func isInside(_ name: String) -> Bool { name.hasPrefix(folder + "/") }
      // A storage that had lost all tokens gets those of an earlier archive, as it would with the folder of a backup.
      guard let archive = archives.last(where: { $0.others.keys.contains(where: isInside) }) else { continue }
      try copy(archive, where: isInside, to: target, staged, &report)
    }
    func isElsewhere(_ name: String) -> Bool { !OtherFiles.exact.contains { name.hasPrefix($0 + "/") } }
    try copy(newest, where: isElsewhere, to: target, staged, &report)
  }

  private func copy(
    _ archive: BackupArchive, where isWanted: (String) -> Bool, to target: String, _ staged: StagedFiles,
    _ report: inout TransferReport
  ) throws(SystemError) {
    let check = FileCheck(try archive.readFileIndex(), where: isWanted)
    for (name, file) in archive.others.sorted(by: { $0.key < $1.key }) where isWanted(name) {
      let path = "\(target)/\(name)"
      try staged.makeFolder(Folder.parent(of: path))
      let copy = try staged.copy(file.contents, mode: 0o600)
      check.didCopy(of: name, copy.sha256)
      try staged.add(copy, as: path, modified: file.modified)
      try staged.commitIfMany()
      report.otherFiles += 1
    }
    try staged.commit()
    report.fileProblems += check.problems
  }
}

/// Reads an archive of regular files, as ``TarWriter`` writes it.
struct TarReader {
  let file: File

  /// Passes every member to `visit`, in order, with the place of its contents.
  /// - Returns: whether the archive is complete and contains nothing else. Otherwise the members before the first
  ///   damage were passed.
  func forEachMember(
    _ visit: (TarHeader, FileSection) throws(SystemError) -> Void
  ) throws(SystemError) -> Bool {
    let end = try file.size
    var offset: Int64 = 0
    while offset + Int64(TarHeader.blockBytes) <= end {
      let block = try file.read(upTo: TarHeader.blockBytes, at: offset)
      // Zeros mark the end.
      if block.allSatisfy({ $0 == 0 }) { return true }
      offset += Int64(TarHeader.blockBytes)
      guard let header = TarHeader(block), header.paddedSize <= end - offset else { return false }
      try visit(header, FileSection(file, offset..<offset + header.size))
      offset += header.paddedSize
    }
    return false
  }
}
