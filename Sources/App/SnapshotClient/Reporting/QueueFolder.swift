import Foundation
import SnapshotFormat
import SystemIO

/// A queue's folder:
///
///     lock                        locked while the queue is open
///     items/<id>/bundle.zip       the bundle; removed once the server has stored it
///     items/<id>/state.json       the upload's state
///     items/<id>/upload.json      the address of the upload on the server; only during a resumable upload
///     items/<id>/piece            what the system sends of the bundle in the background
///     staging/…                   folders that are being created or removed; emptied when the queue is opened
///
/// The folder of an upload is created and removed by renaming it, so that it is always complete. Other files in it are
/// ignored, and are removed together with it. All methods block.
struct QueueFolder: Sendable {
  /// The steps that change the disk. Tests observe them and inject failures.
  enum Step: String, Sendable, CaseIterable {
    case stage, writeState, publish, flush, saveState, removeBundle, retire
  }

  /// The maximum size of a state file in bytes.
  static let noteBytes: Int64 = 64 * 1024

  let path: String
  private let lock: File
  private let willDo: @Sendable (Step) throws(SystemError) -> Void

  private var items: String { path + "/items" }
  private var staging: String { path + "/staging" }

  /// Opens the folder at `path`, and removes incomplete folders that an earlier process left behind.
  init(
    _ path: String,
    willDo: @escaping @Sendable (Step) throws(SystemError) -> Void = { _ throws(SystemError) in }
  ) throws(ReportingError) {
    self.path = path
    self.willDo = willDo
    let isFree: Bool
    do {
      try PrivateFolder.create(path)
      lock = try File(path + "/lock", .openOrCreate(mode: 0o600))
      isFree = try lock.tryLock()
      if isFree {
        try Folder.create(items)
        try Folder.removeTree(staging)
        try Folder.create(staging)
        try Folder.synchronize(path)
      }
    } catch {
      throw .disk(error)
    }
    guard isFree else { throw .inUse(folder: path) }
  }

  /// Unlocks the folder for another queue, even if copies of this value still exist.
  func close() {
    // Closing the file descriptor releases the lock at the latest.
    do { try lock.unlock() } catch {}
  }

  /// The path of the bundle of `id`.
  func bundle(of id: SnapshotID) -> String { "\(items)/\(id)/bundle.zip" }

  /// The path of the file with the address of the resumable upload of `id`.
  func resumption(of id: SnapshotID) -> String { "\(items)/\(id)/upload.json" }

  /// The path of the file with the bytes that the system sends of the bundle of `id`.
  func piece(of id: SnapshotID) -> String { "\(items)/\(id)/piece" }

  // MARK: - Reading

  /// Loads all uploads, and describes the folders that can't be read.
  func load() throws(SystemError) -> (items: [QueuedUpload], unreadable: [UnreadableUpload]) {
    var found: (items: [QueuedUpload], unreadable: [UnreadableUpload]) = ([], [])
    for name in try Folder.entries(items) {
      guard let id = SnapshotID(name), id.description == name else { continue }
      do {
        var item = try read(id)
        let hasBundle = try Folder.kind(of: bundle(of: id)) == .file
        // An earlier process can have ended before it removed them.
        if !item.hasBundle { [bundle(of: id), resumption(of: id), piece(of: id)].forEach(discard) }
        item.hasBundle = item.hasBundle && hasBundle
        found.items.append(item)
      } catch {
        found.unreadable.append(
          UnreadableUpload(folder: URL(filePath: "\(items)/\(name)"), reason: Self.reason(error)))
      }
    }
    return found
  }

  private func read(_ id: SnapshotID) throws -> QueuedUpload {
    struct Version: Decodable { var version: Int }
    let file = try File("\(items)/\(id)/state.json")
    let size = try file.size
    guard size <= Self.noteBytes else { throw Unreadable("Its state file has \(size) bytes.") }
    let json = Data(try file.read(upTo: Int(size), at: 0))
    let version = try SnapshotJSON.decode(Version.self, from: json).version
    guard version <= StoredQueueItem.currentVersion else {
      throw Unreadable("Its state file was written by a newer version of this software (\(version)).")
    }
    let stored = try SnapshotJSON.decode(StoredQueueItem.self, from: json)
    guard stored.id == id else { throw Unreadable("Its state file belongs to \(stored.id).") }
    return stored.item
  }

  private struct Unreadable: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
  }

  private static func reason(_ error: any Error) -> String {
    switch error {
    case let error as Unreadable: error.reason
    case let error as SystemError: "\(error.explanation)."
    default: "Its state file is damaged."
    }
  }

  // MARK: - Writing

  /// Creates an empty folder for a new upload.
  func stage() throws(SystemError) -> String {
    try willDo(.stage)
    let path = "\(staging)/\(SnapshotID())"
    try Folder.create(path)
    return path
  }

  /// Removes a file or folder that is no longer needed. If that fails, it is removed when the queue is opened again.
  func discard(_ path: String) {
    do { try Folder.removeTree(path) } catch {}
  }

  /// Moves the staged folder, which contains the bundle, to its final path, durably even after a power failure.
  ///
  /// If this method throws, the queue does not contain the upload.
  /// - Returns: `nil`; or the error if the upload is in the queue but not durable, because the disk could neither
  ///   synchronize nor remove it.
  func publish(_ stage: String, as item: QueuedUpload) throws(SystemError) -> SystemError? {
    try willDo(.writeState)
    try File(stage + "/bundle.zip", .update).synchronize()
    try DurableFile.replace(stage + "/state.json", with: Self.json(of: item))
    try willDo(.publish)
    let place = "\(items)/\(item.id)"
    try Folder.publish(stage, as: place)
    do {
      try willDo(.flush)
      try Folder.synchronize(items)
      return nil
    } catch {
      // The folder could not be synchronized, so it is removed again.
      do { try retire(item.id) } catch {}
      let isThere: Bool
      // If the disk can't be read, assume that the folder exists.
      do { isThere = try Folder.exists(place) } catch { isThere = true }
      guard isThere else { throw error }
      return error
    }
  }

  /// Writes the state of `item`.
  func save(_ item: QueuedUpload) throws(SystemError) {
    try willDo(.saveState)
    try DurableFile.replace("\(items)/\(item.id)/state.json", with: Self.json(of: item))
  }

  /// Removes the bundle of `id` and what belongs to its upload. The state file must already be updated.
  func removeBundle(of id: SnapshotID) throws(SystemError) {
    try willDo(.removeBundle)
    for path in [bundle(of: id), resumption(of: id), piece(of: id)] { try Folder.removeIfPresent(path) }
  }

  /// Removes the upload of `id`: its folder is first moved to the staging folder, then deleted.
  func retire(_ id: SnapshotID) throws(SystemError) {
    try willDo(.retire)
    let grave = "\(staging)/\(SnapshotID())"
    do {
      try Folder.replace(grave, with: "\(items)/\(id)")
    } catch  where error.isNotFound {
      return
    }
    try Folder.synchronize(items)
    discard(grave)
  }

  private static func json(of item: QueuedUpload) throws(SystemError) -> [UInt8] {
    do {
      return Array(try SnapshotJSON.encode(StoredQueueItem(item), pretty: true))
    } catch {
      throw SystemError(operation: "encode", path: "\(item.id)", code: EINVAL)
    }
  }
}
