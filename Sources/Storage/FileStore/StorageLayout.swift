import Foundation
import SnapshotFormat
import SnapshotStore
import SystemIO

/// The paths of all files below one storage folder, and how they are read.
///
/// A bundle is published if its `.json` exists, which gets its name last, and deleted if its `.deleted` exists, whatever
/// other files exist. A deletion renames the record to the `.deleted`, which is emptied once the bundle is removed. A
/// bundle that was found damaged is renamed from `.zip` to `.damaged`. A record with neither is that of a bundle whose
/// file was lost.
struct StorageLayout: Sendable {
  /// The files of a bundle, by their extension.
  enum Kind: String, CaseIterable {
    case bundle = "zip"
    case damaged
    case record = "json"
    /// The record of a bundle that is being published.
    case unpublished = "new"
    case tombstone = "deleted"
  }

  /// The storage folder.
  let root: String
  let bundles: String
  /// Caches records that were read recently. After changing or removing a record's file, call ``forget(_:)``.
  let records = RecordCache()
  /// Keeps bundles open that were read recently.
  private let files = OpenFiles()

  init(root: String) {
    self.root = root
    bundles = root + "/bundles"
  }

  var uploads: String { root + "/uploads" }
  /// Bundles that were found without a record: kept for the operator to inspect, and never served.
  var setAside: String { root + "/set-aside" }
  /// The keys of tokens and links.
  var keys: String { root + "/keys" }
  var lock: String { root + "/lock" }
  /// See ``CleanStop``.
  var cleanStop: String { root + "/clean" }

  /// The files of a resumable upload: its progress, its bytes, and the record that is staged when it is published.
  enum UploadPart: String, CaseIterable {
    case state = "upload"
    case bytes = "part"
    case record = "json"
  }

  func path(_ part: UploadPart, of id: UploadID) -> String { "\(uploads)/\(id).\(part.rawValue)" }

  /// The files that become a bundle when the upload is published.
  func staged(_ id: UploadID) -> StagedBundle {
    StagedBundle(bundle: path(.bytes, of: id), record: path(.record, of: id))
  }

  /// New names for the files of a transient upload.
  func newStaged() -> StagedBundle {
    let name = "\(uploads)/\(SnapshotID())"
    return StagedBundle(bundle: name + ".zip", record: name + ".json")
  }

  /// The resumable upload that a file in ``uploads`` belongs to, by its name; `nil` if it belongs to none.
  static func upload(ofFile name: String) -> UploadID? {
    let parts = name.split(separator: ".", maxSplits: 1)
    guard parts.count == 2, UploadPart(rawValue: String(parts[1])) != nil else { return nil }
    return UploadID(String(parts[0]))
  }

  /// The folder that holds all files of `id`, named after the first two digits of `id`.
  func folder(of id: SnapshotID) -> String { bundles + "/" + Self.shard(of: id.description) }

  func folder(of shard: SnapshotShard) -> String { bundles + "/" + shard.digits }

  private static func shard(of name: String) -> Substring {
    name[..<name.utf8.index(name.startIndex, offsetBy: 2)]
  }

  func path(_ kind: Kind, of id: SnapshotID) -> String {
    let name = id.description
    var path = bundles
    path.reserveCapacity(bundles.utf8.count + name.utf8.count + 16)
    path.append("/")
    path.append(contentsOf: Self.shard(of: name))
    path.append("/")
    path.append(name)
    path.append(".")
    path.append(kind.rawValue)
    return path
  }

  /// Parses the name of a file in the folder of a shard; `nil` if it is not the name of a bundle's file.
  static func parse(_ name: String, in folder: String) -> (id: SnapshotID, kind: Kind)? {
    let parts = name.split(separator: ".", maxSplits: 1)
    guard parts.count == 2, let id = SnapshotID(String(parts[0])), id.description == parts[0],
      folder.hasSuffix("/" + shard(of: id.description)),
      let kind = Kind(rawValue: String(parts[1]))
    else { return nil }
    return (id, kind)
  }

  /// The shards that have a folder.
  func shards() throws(SystemError) -> [SnapshotShard] {
    let names = Set(try Folder.entries(bundles))
    var shards: [SnapshotShard] = []
    for shard in SnapshotShard.allCases where names.contains(shard.digits) {
      if try Folder.kind(of: folder(of: shard)) == .folder { shards.append(shard) }
    }
    return shards
  }

  /// Replaces the tombstone of a deleted bundle by an empty file if it still contains the record. Call it after the
  /// bundle's file was removed, which frees the inode that this needs. Blocks.
  func emptyTombstone(of id: SnapshotID) throws(SystemError) {
    let tombstone = path(.tombstone, of: id)
    guard try Folder.size(of: tombstone) > 0 else { return }
    let staged = newStaged().record
    _ = try File(staged, .create(mode: 0o600))
    try Folder.replace(tombstone, with: staged)
  }

  /// The bundles published in the folder of a shard, including those set aside or lost, sorted by name.
  func published(in folder: String) throws(SystemError) -> [SnapshotID] {
    var published: [SnapshotID] = []
    var (deleted, unpublished): (SnapshotID?, SnapshotID?)
    // In the sorted entries, a tombstone follows the damaged bundle, and the bundle comes last.
    for case let (id, kind)? in try Folder.entries(folder).map({ Self.parse($0, in: folder) }) {
      switch kind {
      case .tombstone:
        deleted = id
        if published.last == id { published.removeLast() }
      case .unpublished: unpublished = id
      case .bundle where unpublished == id: break
      case .bundle, .damaged, .record:
        if deleted != id, published.last != id { published.append(id) }
      }
    }
    return published
  }

  /// Throws ``StoreError/deleted`` or ``StoreError/notFound`` unless a bundle has this UUID.
  func requirePublished(_ id: SnapshotID) throws(StoreError) {
    if try has(.tombstone, of: id) { throw .deleted }
    if try has(.record, of: id) { return }
    // A bundle without a record is being published, or has lost its record.
    if try !has(.bundle, of: id), try !has(.damaged, of: id) { throw .notFound }
    if try has(.unpublished, of: id) { throw .notFound }
  }

  /// Whether `id` names a bundle, or did before it was deleted.
  func isTaken(_ id: SnapshotID) throws(StoreError) -> Bool {
    do { try requirePublished(id) } catch .notFound {
      return false
    } catch .deleted {
      return true
    }
    return true
  }

  /// Whether a file of this kind exists for `id`. Throws if the file system fails.
  private func has(_ kind: Kind, of id: SnapshotID) throws(StoreError) -> Bool {
    try StoreError.disk { () throws(SystemError) in try Folder.kind(of: path(kind, of: id)) != nil }
  }

  /// Whether the bundle is out of use: it was set aside, or lost.
  func isOutOfUse(_ id: SnapshotID) throws(StoreError) -> Bool {
    if try has(.bundle, of: id) { return false }
    if try has(.damaged, of: id) { return true }
    return try isLost(id)
  }

  /// Whether a bundle was published and its file is gone.
  func isLost(_ id: SnapshotID) throws(StoreError) -> Bool {
    guard try has(.record, of: id) else { return false }
    // In this order, one of them is found if the bundle is set aside, repaired or deleted meanwhile.
    for kind in [Kind.bundle, .damaged, .bundle, .tombstone] where try has(kind, of: id) { return false }
    return true
  }

  /// Gives a record its final name if its bundle has its own. Only a crash leaves it to do.
  func endPublication(of id: SnapshotID) throws(SystemError) {
    guard try Folder.exists(path(.bundle, of: id)) else { return }
    do {
      try Folder.publish(path(.unpublished, of: id), as: path(.record, of: id))
    } catch  where error.isNotFound {
      // Another thread has done it.
    }
  }

  func record(_ id: SnapshotID) throws(StoreError) -> SnapshotRecord {
    let changes = records.changes
    let (record, size) = try read(id)
    let served = try asServed(record)
    if served == record {
      records.keep(record, bundle: path(.bundle, of: id), cost: size, readAt: changes)
    }
    return served
  }

  /// The record as stored in its file, bypassing the cache.
  func storedRecord(_ id: SnapshotID) throws(StoreError) -> SnapshotRecord { try read(id).record }

  /// `record`, marked as damaged if its bundle is out of use.
  func asServed(_ record: SnapshotRecord) throws(StoreError) -> SnapshotRecord {
    guard try isOutOfUse(record.id) else { return record }
    var record = record
    record.verified = .damaged
    return record
  }

  private func read(_ id: SnapshotID) throws(StoreError) -> (record: SnapshotRecord, size: Int) {
    try requirePublished(id)
    let bytes = try present(id) { () throws(SystemError) in
      let file = try File(path(.record, of: id))
      return try file.read(upTo: Int(file.size), at: 0)
    }
    do {
      let record = try RecordFile.decode(bytes)
      guard record.id == id else { throw RecordFile.Damage() }
      return (record, bytes.count)
    } catch {
      throw .damaged
    }
  }

  /// Opens a bundle. Throws ``StoreError/damaged`` if it is out of use or its length differs from its record's.
  /// - Parameter isAnew: whether to bypass the cache, and to open any bundle that is in use, even if its length differs
  ///   from its record's.
  func open(_ id: SnapshotID, anew isAnew: Bool = false) throws(StoreError) -> StoredBundle {
    try requirePublished(id)
    if try isOutOfUse(id) { throw .damaged }
    let file = try present(id) { () throws(SystemError) in try File(path(.bundle, of: id)) }
    if isAnew { return StoredBundle(record: try asServed(storedRecord(id)), file: file) }
    let recent = records.entry(id)
    let record = if let recent { recent.record } else { try self.record(id) }
    let size = try StoreError.disk { () throws(SystemError) in try file.size }
    guard record.verified != .damaged, size == record.size else { throw .damaged }
    return StoredBundle(record: record, file: file)
  }

  /// A record that was read recently and whose bundle still exists, else `nil`. Does not wait for the disk: the file
  /// names of such a bundle are in the system's cache.
  func recentRecord(_ id: SnapshotID) -> SnapshotRecord? {
    guard let entry = records.entry(id) else { return nil }
    do {
      return try files.has(entry.bundle) ? entry.record : nil
    } catch {
      // The caller then calls `record(_:)`, which fails in the same way and throws.
      return nil
    }
  }

  /// Opens a bundle whose record was read recently, if the system can open it without the disk; else `nil`.
  func openRecent(_ id: SnapshotID) -> StoredBundle? {
    guard let entry = records.entry(id), entry.record.verified != .damaged,
      let (file, size) = files.file(cached: entry.bundle), size == entry.record.size
    else { return nil }
    return StoredBundle(record: entry.record, file: file)
  }

  /// Drops the cached record and the open file of a bundle whose record or bytes have just been changed or removed.
  func forget(_ id: SnapshotID) {
    records.forget(id)
    files.forget(path(.bundle, of: id))
  }

  /// Closes the bundles that are kept open, once no reader uses them.
  func closeFiles() { files.removeAll() }

  /// Reads a file that was there a moment ago. If it is gone, the bundle was deleted in the meantime.
  private func present<Value>(
    _ id: SnapshotID, _ read: () throws(SystemError) -> Value
  ) throws(StoreError) -> Value {
    do {
      return try read()
    } catch {
      if error.isNotFound { try requirePublished(id) }
      throw StoreError(error)
    }
  }
}
