import SnapshotFormat
import SnapshotStore
import SystemIO

extension StorageLayout {
  /// The kinds of files that each snapshot in a shard has.
  func kinds(in shard: SnapshotShard) throws(SystemError) -> [SnapshotID: Set<Kind>] {
    let folder = folder(of: shard)
    guard try Folder.hasFolder(folder) else { return [:] }
    var kinds: [SnapshotID: Set<Kind>] = [:]
    for case let (id, kind)? in try Folder.entries(folder).map({ Self.parse($0, in: folder) }) {
      kinds[id, default: []].insert(kind)
    }
    return kinds
  }

  /// The kinds of files that a snapshot has now.
  func kinds(of id: SnapshotID) throws(SystemError) -> Set<Kind> {
    var kinds: Set<Kind> = []
    for kind in Kind.allCases where try Folder.exists(path(kind, of: id)) { kinds.insert(kind) }
    return kinds
  }

  /// The record of a snapshot, read from its file; `nil` if it is missing, damaged or that of another snapshot.
  func intactRecord(_ id: SnapshotID) throws(SystemError) -> (record: SnapshotRecord, bytes: [UInt8])? {
    guard let bytes = try FileSection(ifPresent: path(.record, of: id))?.read() else { return nil }
    return RecordFile.intact(bytes, of: id).map { ($0, bytes) }
  }

  /// The record of a snapshot whose bundle has the size and digest that it states; otherwise `nil`. Reads the bundle.
  func intactBundle(_ id: SnapshotID) throws(SystemError) -> SnapshotRecord? {
    guard let record = try intactRecord(id)?.record, let file = try File.ifPresent(path(.bundle, of: id)),
      try file.size == record.size, try ContentDigest.of(contentsOf: file) == record.sha256
    else { return nil }
    return record
  }
}

extension Set<StorageLayout.Kind> {
  /// Whether a bundle with these files is not published yet.
  var isBeingPublished: Bool { contains(.unpublished) && isDisjoint(with: [.record, .tombstone]) }
}

extension File {
  /// Opens a file for reading; `nil` if there is none.
  static func ifPresent(_ path: String) throws(SystemError) -> File? {
    do { return try File(path) } catch  where error.isNotFound { return nil }
  }
}
