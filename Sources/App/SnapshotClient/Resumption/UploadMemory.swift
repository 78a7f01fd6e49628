import Foundation
import SnapshotFormat
import SystemIO

/// Stores the state with which another process can resume an upload: the upload's address on the server, and a
/// description of its content. All methods block.
///
/// A file that is invalid or describes another upload is ignored. If the file can't be written, the upload can't be
/// resumed later, but continues.
struct UploadMemory: Sendable {
  private struct State: Codable, Hashable {
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
  private let sha256: ContentDigest
  private let limit: Int64

  /// Stores the state of an upload to `server` of the bytes with the digest `sha256` in `file`. A file larger than
  /// `limit` bytes is ignored.
  init(_ file: URL, of server: String, _ sha256: ContentDigest, limit: Int64) {
    path = file.path
    self.server = server
    self.sha256 = sha256
    self.limit = limit
  }

  /// Returns the path of the unfinished upload of `bundle` on the server.
  func location(of bundle: OutgoingBundle, size: Int64) -> String? {
    guard Folder.isRegularFile(path) else { return nil }
    do {
      let file = try File(path)
      let count = try file.size
      guard count <= limit else { return nil }
      let state = try SnapshotJSON.decode(State.self, from: Data(file.read(upTo: Int(count), at: 0)))
      return state == self.state(on: bundle, size: size, at: state.location) ? state.location : nil
    } catch {
      return nil
    }
  }

  /// Stores that the upload of `bundle` is at `location`.
  func remember(_ location: String, of bundle: OutgoingBundle, size: Int64) {
    do {
      let state = state(on: bundle, size: size, at: location)
      try DurableFile.replace(path, with: Array(SnapshotJSON.encode(state, pretty: true)))
    } catch {
      forget()
    }
  }

  /// Removes the stored state.
  func forget() {
    do { try Folder.removeIfPresent(path) } catch {
      // A later upload asks the server about the state, and starts again if the server does not know it.
    }
  }

  private func state(on bundle: OutgoingBundle, size: Int64, at location: String) -> State {
    State(
      server: server, report: bundle.report, id: bundle.id, expires: bundle.end?.description, size: size,
      sha256: sha256, location: location)
  }
}

/// The reason why an upload is restarted from the first byte: the server contradicts the client's state of the upload.
public enum UploadRestart: Sendable, Hashable, CustomStringConvertible {
  /// The server no longer has the upload, and responded with this status.
  case lost(status: Int)
  /// The upload on the server has another size.
  case otherLength(Int64)
  /// The server reports an impossible number of stored bytes.
  case impossibleOffset(Int64)

  /// The server's statement, as a part of a sentence.
  public var description: String {
    switch self {
    case .lost(let status): "the server has no such upload any more (status \(status))"
    case .otherLength(let length): "the server has an upload of \(length) bytes instead"
    case .impossibleOffset(let offset): "the server reports \(offset) bytes, which is impossible"
    }
  }
}
