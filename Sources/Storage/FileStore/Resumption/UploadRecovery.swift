import Foundation
import Logging
import SnapshotFormat
import SnapshotStore
import SystemIO

/// Finds the uploads again that may be resumed, and flushes what it finds of them; removes what never came so far, and what
/// was removed in part.
struct UploadRecovery {
  /// An upload that goes on.
  struct Found {
    var session: UploadSession
    /// The number of its progress.
    var number: Int
  }

  let layout: StorageLayout
  let logger: Logger

  /// To be done when what is published is in order.
  func run() throws(SystemError) -> [Found] {
    var found: [Found] = []
    for id in Set(try Folder.entries(layout.uploads).compactMap(StorageLayout.upload)).sorted(by: {
      $0.description < $1.description
    }) {
      // It is made anew with every publication.
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
        "Removed an upload that was never opened in full", metadata: ["upload": "\(id.abbreviation)"])
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
    // A process may have ended between a write and its flush; from here on clients are told what was found.
    try file.synchronize()
    return Found(session: session, number: number)
  }

  /// Cuts off what came and was not made to last: after a power cut it may be anything.
  /// - Returns: whether the bytes are all there that were made to last.
  private func keep(_ session: UploadSession, _ path: String) throws(SystemError) -> Bool {
    let size = try Folder.size(of: path)
    guard size >= session.offset else {
      logger.error(
        "Bytes of an upload are gone that were told to last",
        metadata: ["upload": "\(session.id.abbreviation)", "left": "\(size)", "told": "\(session.offset)"])
      return false
    }
    let file = try File(path, .update)
    if size > session.offset { try file.truncate(to: session.offset) }
    try file.synchronize()
    return true
  }

  /// How an upload ended whose bytes are no longer here: they were published, and nobody came to write it down.
  private func outcome(of session: UploadSession) -> UploadOutcome? {
    guard let sha256 = session.progress.sha256, let id = session.terms.attachment?.id else { return nil }
    do throws(StoreError) {
      return try layout.storedRecord(id).sha256 == sha256 ? .published(id, isNew: true) : nil
    } catch {
      if case .deleted = error { return .published(id, isNew: true) }
      return nil
    }
  }
}
