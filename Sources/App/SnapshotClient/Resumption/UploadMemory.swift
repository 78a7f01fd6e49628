import Foundation
import SnapshotFormat
import SystemIO

/// What has to outlive a process so that another one can go on with an upload: where on the server it is, and what it
/// is of. Everything blocks.
///
/// What can't be read, or is of something else, counts as nothing; what can't be written costs no more than that the
/// upload can't be gone on with later.
struct UploadMemory: Sendable {
  private struct Note: Codable, Hashable {
    var version = 1
    var server: String
    var report: ReportID
    var id: SnapshotID?
    var expires: String?
    var size: Int64
    var sha256: ContentDigest
    var location: String
  }

  private let path: String
  private let server: String
  private let limit: Int64

  /// The memory in `file` of uploads to `server`, of which at most `limit` bytes are read.
  init(_ file: URL, of server: String, limit: Int64) {
    path = file.path
    self.server = server
    self.limit = limit
  }

  /// Where on the server the upload of `bundle` is that was begun.
  func location(of bundle: OutgoingBundle, size: Int64) -> String? {
    guard Folder.isRegularFile(path) else { return nil }
    do {
      let file = try File(path)
      let count = try file.size
      guard count <= limit else { return nil }
      let note = try SnapshotJSON.decode(Note.self, from: Data(file.read(upTo: Int(count), at: 0)))
      return note == self.note(on: bundle, size: size, at: note.location) ? note.location : nil
    } catch {
      return nil
    }
  }

  /// Notes that the upload of `bundle` is at `location`.
  func remember(_ location: String, of bundle: OutgoingBundle, size: Int64) {
    do {
      let note = note(on: bundle, size: size, at: location)
      try DurableFile.replace(path, with: Array(SnapshotJSON.encode(note, pretty: true)))
    } catch {
      forget()
    }
  }

  /// Notes that there is none to be gone on with.
  func forget() {
    do { try Folder.removeIfPresent(path) } catch {}
  }

  private func note(on bundle: OutgoingBundle, size: Int64, at location: String) -> Note {
    Note(
      server: server, report: bundle.report, id: bundle.id, expires: bundle.end?.description, size: size,
      sha256: bundle.digest, location: location)
  }
}
