import Foundation
import HTTPSemantics
import HTTPTransport
import HTTPTypes
import SnapshotFormat
import SystemIO

/// A download that is not whole yet: `<file>.partial`, and beside it in `<file>.partial.json` what it is a part
/// of, so that another process can go on with it.
struct PartialDownload: Sendable {
  /// Where to go on.
  struct Resumption: Sendable {
    var offset: Int64 = 0
    var entityTag: String?
    var digest: ContentDigest?
    var isComplete = false
  }

  private struct Note: Codable {
    var source: String
    var entityTag: String
    var size: Int64?
    var sha256: ContentDigest?
  }

  /// The file that holds what has arrived.
  let url: URL
  private let file: URL
  private let noteURL: URL
  private let source: String
  private let limits: ClientLimits

  /// A download of what `source` names to `file`.
  init(of source: String, to file: URL, limits: ClientLimits) {
    self.source = source
    self.file = file
    self.limits = limits
    url = URL(filePath: file.path + ".partial")
    noteURL = URL(filePath: file.path + ".partial.json")
  }

  /// How far the download came; from the start where what lies there is of something else, or can't be told.
  func resumption() throws(SnapshotClientError) -> Resumption {
    try mapped {
      guard let note = try readNote(), note.source == source, Folder.isRegularFile(url.path) else {
        return Resumption()
      }
      let size = try File(url.path, .read).size
      guard size > 0, size <= note.size ?? .max else { return Resumption() }
      return Resumption(
        offset: size, entityTag: note.entityTag, digest: note.sha256, isComplete: size == note.size)
    }
  }

  /// Notes what the response is a part of, before any byte of it is written.
  func begin(_ head: HTTPResponse) {
    guard head.status.code == 200 else { return }
    do {
      // Only a strong validator says that the bytes are the same (RFC 9110 §13.1.5).
      guard let tag = head.headerFields[.eTag], EntityTag(tag)?.isWeak == false,
        tag.utf8.count <= limits.entityTagBytes
      else {
        return try Folder.removeIfPresent(noteURL.path)
      }
      let note = Note(
        source: source, entityTag: tag, size: head.headerFields[.contentLength].flatMap { Int64($0) },
        sha256: ContentDigest(statedIn: head.headerFields))
      try SnapshotJSON.encode(note).write(to: noteURL, options: .atomic)
    } catch {
      // The download goes on; what is lost is only that it could be resumed, and a note that is out of date is
      // found out by its entity tag.
    }
  }

  /// Puts the file in place if its digest is `expected`.
  /// - Returns: its size, or `nil` where the digest differs; then nothing of the download is left.
  func finish(
    expecting expected: ContentDigest, isCancelled: () -> Bool
  ) throws(SnapshotClientError) -> Int64? {
    guard try FileDigest.compute(url, isCancelled: isCancelled) == expected else {
      try discard()
      return nil
    }
    return try mapped {
      let whole = try File(url.path, .update)
      let size = try whole.size
      try whole.synchronize()
      try Folder.replace(file.path, with: url.path)
      try Folder.removeIfPresent(noteURL.path)
      try Folder.synchronize(Folder.parent(of: file.path))
      return size
    }
  }

  /// Removes all of it.
  func discard() throws(SnapshotClientError) {
    try mapped {
      try Folder.removeIfPresent(noteURL.path)
      try Folder.removeIfPresent(url.path)
    }
  }

  private func readNote() throws -> Note? {
    guard Folder.isRegularFile(noteURL.path) else { return nil }
    let file = try File(noteURL.path, .read)
    let size = try file.size
    guard size <= limits.resumptionBytes else { return nil }
    do {
      return try SnapshotJSON.decode(Note.self, from: Data(file.read(upTo: Int(size), at: 0)))
    } catch is DecodingError {
      return nil
    }
  }

  private func mapped<Value>(_ work: () throws -> Value) throws(SnapshotClientError) -> Value {
    do {
      return try work()
    } catch let error as SystemError {
      throw SnapshotClientError(.file, error.description, cause: error)
    } catch {
      throw SnapshotClientError(.file, cause: error)
    }
  }
}
