import Foundation
import SnapshotFormat
import SnapshotStore
import SystemIO

/// Where things lie below one storage folder, and how they are read.
///
/// A bundle is published when its `.zip` stands under its final name, and deleted when its `.deleted` stands
/// there, whatever else does. One whose bytes were damaged has another name: `.damaged` in place of `.zip`.
struct StorageLayout: Sendable {
  /// What stands under a bundle's name.
  enum Kind: String, CaseIterable {
    case bundle = "zip"
    case damaged
    case record = "json"
    case tombstone = "deleted"
  }

  /// The storage folder.
  let root: String
  let bundles: String
  /// What was read of it; whoever changes or removes a record's file says so with ``forget(_:)``.
  let records = RecordCache()
  /// Bundles that were read a short while ago.
  private let files = OpenFiles()

  init(root: String) {
    self.root = root
    bundles = root + "/bundles"
  }

  var uploads: String { root + "/uploads" }
  /// Bundles that were found without a record: kept for people to look at, served to nobody.
  var setAside: String { root + "/set-aside" }
  var lock: String { root + "/lock" }

  /// What is kept of one upload that may be resumed: how far it is, its bytes, and the record that they are about to
  /// be published with.
  enum UploadPart: String, CaseIterable {
    case state = "upload"
    case bytes = "part"
    case record = "json"
  }

  func path(_ part: UploadPart, of id: UploadID) -> String { "\(uploads)/\(id).\(part.rawValue)" }

  /// What becomes a bundle of the upload.
  func staged(_ id: UploadID) -> StagedBundle {
    StagedBundle(bundle: path(.bytes, of: id), record: path(.record, of: id))
  }

  /// The upload that a file in ``uploads`` is of, by its name; `nil` for one that is of none which may be resumed.
  static func upload(ofFile name: String) -> UploadID? {
    let parts = name.split(separator: ".", maxSplits: 1)
    guard parts.count == 2, UploadPart(rawValue: String(parts[1])) != nil else { return nil }
    return UploadID(String(parts[0]))
  }

  /// The folder that holds everything of `id`: named after its first two digits.
  func folder(of id: SnapshotID) -> String { bundles + "/" + Self.shard(of: id.description) }

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

  /// What a file in one of ``folders()`` is, by its name; `nil` for one that has no business there.
  static func parse(_ name: String, in folder: String) -> (id: SnapshotID, kind: Kind)? {
    let parts = name.split(separator: ".", maxSplits: 1)
    guard parts.count == 2, let id = SnapshotID(String(parts[0])), id.description == parts[0],
      folder.hasSuffix("/" + shard(of: id.description)),
      let kind = Kind(rawValue: String(parts[1]))
    else { return nil }
    return (id, kind)
  }

  /// The folders in `bundles/` that hold bundles.
  func folders() throws(SystemError) -> [String] {
    let names = try Folder.entries(bundles).filter { $0.utf8.count == 2 }.map { bundles + "/" + $0 }
    var folders: [String] = []
    for name in names where try Folder.kind(of: name) == .folder { folders.append(name) }
    return folders
  }

  /// The bundles published in one of ``folders()``, those set aside among them, by name.
  func published(in folder: String) throws(SystemError) -> [SnapshotID] {
    var published: [SnapshotID] = []
    var deleted: SnapshotID?
    // By name, a tombstone comes after what is damaged and before the bundle.
    for case let (id, kind)? in try Folder.entries(folder).map({ Self.parse($0, in: folder) }) {
      switch kind {
      case .tombstone:
        deleted = id
        if published.last == id { published.removeLast() }
      case .bundle, .damaged:
        if deleted != id, published.last != id { published.append(id) }
      case .record: break
      }
    }
    return published
  }

  /// Throws what is to be said of a UUID that names no bundle.
  func requirePublished(_ id: SnapshotID) throws(StoreError) {
    if try has(.tombstone, of: id) { throw .deleted }
    if try has(.bundle, of: id) { return }
    guard try has(.damaged, of: id) else { throw .notFound }
  }

  /// Whether there is such a file of `id`. Throws where the disk can't tell.
  private func has(_ kind: Kind, of id: SnapshotID) throws(StoreError) -> Bool {
    do { return try Folder.kind(of: path(kind, of: id)) != nil } catch { throw StoreError(error) }
  }

  /// Whether the bundle is out of use: it stands under the other name alone.
  func isSetAside(_ id: SnapshotID) throws(StoreError) -> Bool {
    if try has(.bundle, of: id) { return false }
    return try has(.damaged, of: id)
  }

  func record(_ id: SnapshotID) throws(StoreError) -> SnapshotRecord {
    let changes = records.changes
    let (record, size) = try read(id)
    let served = try asServed(record)
    if served == record { records.keep(record, cost: size, readAt: changes) }
    return served
  }

  /// The record as it is written, whether or not it was read before.
  func storedRecord(_ id: SnapshotID) throws(StoreError) -> SnapshotRecord { try read(id).record }

  /// `record` with what the name of its bundle says of it.
  func asServed(_ record: SnapshotRecord) throws(StoreError) -> SnapshotRecord {
    guard try isSetAside(record.id) else { return record }
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
    do throws(RecordFile.Damage) {
      let record = try RecordFile.decode(bytes)
      guard record.id == id else { throw RecordFile.Damage() }
      return (record, bytes.count)
    } catch {
      throw .damaged
    }
  }

  /// Throws ``StoreError/damaged`` for a bundle that was found damaged, or whose length is not that of its record.
  /// - Parameter isAnew: whether the record is neither asked of those that were read before nor kept with them, and the
  ///   bundle is opened as long as it was not set aside.
  func open(_ id: SnapshotID, anew isAnew: Bool = false) throws(StoreError) -> StoredBundle {
    try requirePublished(id)
    if try isSetAside(id) { throw .damaged }
    let file = try present(id) { () throws(SystemError) in try File(path(.bundle, of: id)) }
    if isAnew { return StoredBundle(record: try asServed(storedRecord(id)), file: file) }
    let recent = records.record(id)
    let record = if let recent { recent } else { try self.record(id) }
    let size: Int64
    do throws(SystemError) { size = try file.size } catch { throw StoreError(error) }
    guard record.verified != .damaged, size == record.size else { throw .damaged }
    return StoredBundle(record: record, file: file)
  }

  /// A record that was read a short while ago and whose bundle is still there, else `nil`. Reads nothing from the disk:
  /// the system has the names of such a bundle in memory.
  func recentRecord(_ id: SnapshotID) -> SnapshotRecord? {
    guard let record = records.record(id) else { return nil }
    do throws(SystemError) {
      return try Folder.exists(path(.bundle, of: id)) ? record : nil
    } catch {
      // `record(_:)`, which the caller asks next, meets the same failure and throws it.
      return nil
    }
  }

  /// A bundle whose record was read a short while ago, if the system can open it without the disk, else `nil`.
  func openRecent(_ id: SnapshotID) -> StoredBundle? {
    guard let record = records.record(id), record.verified != .damaged,
      let (file, size) = files.file(cached: path(.bundle, of: id)), size == record.size
    else { return nil }
    return StoredBundle(record: record, file: file)
  }

  /// Drops what is kept in memory or open of a bundle whose record or bytes have just been changed or removed.
  func forget(_ id: SnapshotID) {
    records.forget(id)
    files.forget(path(.bundle, of: id))
  }

  /// Closes the bundles that are kept open, once nobody reads them.
  func closeFiles() { files.removeAll() }

  /// Reads what was there a moment ago; where it is gone, the bundle was deleted meanwhile.
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
