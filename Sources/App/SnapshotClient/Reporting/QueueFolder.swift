import Foundation
import SnapshotFormat
import SystemIO

/// A queue's folder:
///
///     lock                        held as long as the queue is open
///     items/<id>/bundle.zip       the bundle; gone once the server has it
///     items/<id>/state.json       how far it is
///     items/<id>/upload.json      where on the server it goes on; only while a resumable upload is under way
///     staging/…                   what is being made or removed; emptied when the queue is opened
///
/// An upload's folder gets its name, and loses it, in one step, so that an upload is there whole or not at all. Other
/// files in it are left alone and go with it. Everything blocks.
struct QueueFolder: Sendable {
  /// What is done one after the other; a test looks or fails in between.
  enum Step: String, Sendable, CaseIterable {
    case stage, writeNote, publish, flush, saveNote, removeBundle, retire
  }

  /// The bytes of a state file that are read at most.
  static let noteBytes: Int64 = 64 * 1024

  let path: String
  private let lock: File
  private let willDo: @Sendable (Step) throws(SystemError) -> Void

  private var items: String { path + "/items" }
  private var staging: String { path + "/staging" }

  /// Opens the folder at `path`; removes what was being made or removed when a process ended.
  init(
    _ path: String,
    willDo: @escaping @Sendable (Step) throws(SystemError) -> Void = { _ throws(SystemError) in }
  ) throws(ReportingError) {
    self.path = path
    self.willDo = willDo
    let isFree: Bool
    do throws(SystemError) {
      try Folder.createDurably(path)
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

  /// Lets another queue use the folder, whoever still holds this value.
  func close() {
    // The lock goes with the descriptor at the latest.
    do { try lock.unlock() } catch {}
  }

  /// Where the bundle of `id` lies.
  func bundle(of id: SnapshotID) -> String { "\(items)/\(id)/bundle.zip" }

  /// Where it is kept how the upload of `id` goes on.
  func resumption(of id: SnapshotID) -> String { "\(items)/\(id)/upload.json" }

  // MARK: - Reading

  /// All uploads, and what can't be read as one.
  func load() throws(SystemError) -> (items: [QueuedUpload], unreadable: [UnreadableUpload]) {
    var found: (items: [QueuedUpload], unreadable: [UnreadableUpload]) = ([], [])
    for name in try Folder.entries(items) {
      guard let id = SnapshotID(name), id.description == name else { continue }
      do {
        var item = try read(id)
        let hasBundle = try Folder.kind(of: bundle(of: id)) == .file
        if hasBundle, !item.hasBundle { discard(bundle(of: id)) }
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
    guard version <= QueueNote.currentVersion else {
      throw Unreadable("Its state file was written by a newer version of this software (\(version)).")
    }
    let note = try SnapshotJSON.decode(QueueNote.self, from: json)
    guard note.id == id else { throw Unreadable("Its state file is that of \(note.id).") }
    return note.item
  }

  private struct Unreadable: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
  }

  private static func reason(_ error: any Error) -> String {
    switch error {
    case let error as Unreadable: error.reason
    case let error as SystemError: "The disk failed. \(error)"
    default: "Its state file is damaged."
    }
  }

  // MARK: - Writing

  /// Makes an empty folder for an upload that is to come.
  func stage() throws(SystemError) -> String {
    try willDo(.stage)
    let path = "\(staging)/\(SnapshotID())"
    try Folder.create(path)
    return path
  }

  /// Removes what is not needed, if it can be; what stays is tried again at the next start.
  func discard(_ path: String) {
    do { try Folder.removeTree(path) } catch {}
  }

  /// Makes the staged folder, in which the bundle lies, that of `item`. Afterwards it would survive a power cut.
  ///
  /// When it throws, there is no such upload.
  /// - Returns: `nil`; or why it may not survive a power cut, where it is in place all the same, because a disk that
  ///   failed to keep it failed to remove it too.
  func publish(_ stage: String, as item: QueuedUpload) throws(SystemError) -> SystemError? {
    try willDo(.writeNote)
    try File(stage + "/bundle.zip", .update).synchronize()
    try DurableFile.replace(stage + "/state.json", with: Self.json(of: item))
    try willDo(.publish)
    let place = "\(items)/\(item.id)"
    try Folder.publish(stage, as: place)
    do throws(SystemError) {
      try willDo(.flush)
      try Folder.synchronize(items)
      return nil
    } catch {
      // It was not made to last, so it should not be there either.
      do { try retire(item.id) } catch {}
      let isThere: Bool
      // What can't be looked up may be there.
      do { isThere = try Folder.exists(place) } catch { isThere = true }
      guard isThere else { throw error }
      return error
    }
  }

  /// Notes how far `item` is.
  func save(_ item: QueuedUpload) throws(SystemError) {
    try willDo(.saveNote)
    try DurableFile.replace("\(items)/\(item.id)/state.json", with: Self.json(of: item))
  }

  /// Removes the bundle of `id` and what an upload of it would need, as its note says already.
  func removeBundle(of id: SnapshotID) throws(SystemError) {
    try willDo(.removeBundle)
    try Folder.removeIfPresent(bundle(of: id))
    try Folder.removeIfPresent(resumption(of: id))
  }

  /// Removes all of `id`: in one step from among the uploads, then from the disk.
  func retire(_ id: SnapshotID) throws(SystemError) {
    try willDo(.retire)
    let grave = "\(staging)/\(SnapshotID())"
    do throws(SystemError) {
      try Folder.replace(grave, with: "\(items)/\(id)")
    } catch  where error.isNotFound {
      return
    }
    try Folder.synchronize(items)
    discard(grave)
  }

  private static func json(of item: QueuedUpload) throws(SystemError) -> [UInt8] {
    do {
      return Array(try SnapshotJSON.encode(QueueNote(item), pretty: true))
    } catch {
      throw SystemError(operation: "encode", path: "\(item.id)", code: EINVAL)
    }
  }
}
