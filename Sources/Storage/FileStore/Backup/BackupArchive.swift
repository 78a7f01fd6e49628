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
  init(_ path: String) throws(TransferError) {
    self.path = path
    var marker: BackupFolder.Marker?
    var isForeign = false
    var (snapshots, others, indexes) = (snapshots, others, indexes)
    let isComplete: Bool
    do throws(SystemError) {
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
    guard let marker, marker.archive != nil, isComplete, !isForeign else { throw .noArchive(path) }
    self.marker = marker
    (self.snapshots, self.others, self.indexes) = (snapshots, others, indexes)
  }

  /// What the archive and those before it have of a shard.
  func readIndex(_ shard: SnapshotShard) throws(SystemError) -> BackupIndex? {
    try indexes[shard.digits].flatMap { (section) throws(SystemError) in
      BackupIndex(text: String(decoding: try section.read(), as: UTF8.self))
    }
  }
}

/// Archives of one storage: a complete one, and those that continue it, in order.
struct BackupArchives: BackupSource {
  private let archives: [BackupArchive]
  private var newest: BackupArchive { archives[archives.count - 1] }

  /// Opens the archives, at least one.
  /// - Throws: ``TransferError/wrongOrder(_:)`` if one does not continue the one before it.
  init(_ paths: [String]) throws(TransferError) {
    var archives: [BackupArchive] = []
    for path in paths {
      let archive = try BackupArchive(path)
      guard archive.marker.follows == archives.last?.marker.archive else { throw .wrongOrder(path) }
      archives.append(archive)
    }
    guard !archives.isEmpty else { throw .noBackup("") }
    self.archives = archives
  }

  func requireUsable(into target: String) {}

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
    case .damaged, .tombstone: nil
    }
  }

  func copyOtherFiles(to target: String, _ staged: StagedFiles) throws(SystemError) -> Int {
    var count = 0
    for folder in OtherFiles.exact {
      // A storage that had lost all tokens gets those of an earlier archive, as it would with the folder of a backup.
      let files =
        archives.reversed().lazy
        .map { $0.others.filter { $0.key.hasPrefix(folder + "/") } }.first { !$0.isEmpty } ?? [:]
      count += try copy(files, to: target, staged)
    }
    let rest = newest.others.filter { file in !OtherFiles.exact.contains { file.key.hasPrefix($0 + "/") } }
    return try count + copy(rest, to: target, staged)
  }

  private func copy(
    _ files: [String: BackupArchive.OtherFile], to target: String, _ staged: StagedFiles
  ) throws(SystemError) -> Int {
    for (name, file) in files.sorted(by: { $0.key < $1.key }) {
      let path = "\(target)/\(name)"
      try staged.makeFolder(Folder.parent(of: path))
      try staged.add(try staged.copy(file.contents, mode: 0o600), as: path, modified: file.modified)
      try staged.commitIfMany()
    }
    try staged.commit()
    return files.count
  }
}
