import Foundation
import Logging
import SnapshotFormat
import SnapshotStore
import SystemIO

/// Finds resumable uploads after a restart and synchronizes their files; removes those that were created or removed
/// only in part.
struct UploadRecovery {
  /// An upload that can be resumed, or whose outcome is remembered.
  struct Found {
    var session: UploadSession
    /// The number of its progress.
    var number: Int
  }

  let layout: StorageLayout
  let logger: Logger
  /// The names in `uploads/` when the store was opened. Other files belong to uploads that began since.
  let names: [String]

  /// Removes staged files that were never published, and recovers all resumable uploads. If `requireOpen` throws, the
  /// next run continues.
  func run(_ requireOpen: () throws(SystemError) -> Void) throws(SystemError) -> [Found] {
    for name in names where StorageLayout.upload(ofFile: name) == nil && name != WriteProbe.fileName {
      try requireOpen()
      try Folder.removeTree(layout.uploads + "/" + name)
      logger.info("Removed an upload that was never committed", metadata: ["upload": "\(name)"])
    }
    var found: [Found] = []
    for id in Set(names.compactMap(StorageLayout.upload)).sorted(by: { $0.description < $1.description }) {
      try requireOpen()
      // Each publication writes the record again.
      try Folder.removeIfPresent(layout.path(.record, of: id))
      if let upload = try recover(id) {
        found.append(upload)
      } else {
        try Folder.removeIfPresent(layout.path(.state, of: id))
        try Folder.removeIfPresent(layout.path(.bytes, of: id))
      }
    }
    try Folder.synchronize(layout.uploads)
    return found
  }

  private func recover(_ id: UploadID) throws(SystemError) -> Found? {
    let path = layout.path(.state, of: id)
    guard try Folder.kind(of: path) == .file else { return nil }
    let file = try File(path, .update)
    guard var (session, number) = try UploadFile.read(file), session.id == id else {
      logger.info(
        "Removed an upload that was only partly created", metadata: ["upload": "\(id.abbreviation)"])
      return nil
    }
    let bytes = layout.path(.bytes, of: id)
    if session.outcome != nil {
      try Folder.removeIfPresent(bytes)
    } else if try Folder.kind(of: bytes) != .file {
      guard let outcome = outcome(of: session) else {
        logger.error("The bytes of an upload are gone", metadata: ["upload": "\(id.abbreviation)"])
        return nil
      }
      session.end(outcome, at: session.progress.touchedAt)
      number += 1
      try UploadFile.write(session.progress, number: number, to: file)
    } else {
      guard try keep(session, bytes) else { return nil }
    }
    // The previous process may have ended between a write and its flush. From here on, clients are sent what was read.
    try file.synchronize()
    return Found(session: session, number: number)
  }

  /// Truncates the bytes that were not durable: after a power cut, their content is undefined.
  /// - Returns: whether all bytes that were durable are there.
  private func keep(_ session: UploadSession, _ path: String) throws(SystemError) -> Bool {
    let size = try Folder.size(of: path)
    guard size >= session.offset else {
      logger.error(
        "Bytes of an upload are missing that were acknowledged as durable",
        metadata: ["upload": "\(session.id.abbreviation)", "left": "\(size)", "told": "\(session.offset)"])
      return false
    }
    let file = try File(path, .update)
    if size > session.offset { try file.truncate(to: session.offset) }
    try file.synchronize()
    return true
  }

  /// The outcome of an upload whose bytes are gone: they were published, and a crash came before the outcome was
  /// recorded.
  private func outcome(of session: UploadSession) -> UploadOutcome? {
    guard let sha256 = session.progress.sha256,
      let id = session.progress.snapshot ?? session.terms.attachment?.id
    else { return nil }
    do throws(StoreError) {
      // The outcome must not survive a power cut that reverts the publication.
      try StoreError.disk { () throws(SystemError) in
        try layout.endPublication(of: id)
        try Folder.synchronize(layout.folder(of: id))
      }
      return try layout.storedRecord(id).sha256 == sha256 ? .published(id, isNew: true) : nil
    } catch {
      if case .deleted = error { return .published(id, isNew: true) }
      return nil
    }
  }
}
