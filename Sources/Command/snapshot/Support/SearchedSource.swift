import Foundation
import SnapshotFormat
import SnapshotViewer
import SystemIO

/// The files of a command's argument that can be searched: those of a snapshot, or any others.
struct SearchedSource: Sendable {
  /// A file.
  struct File: Sendable {
    /// The path in the snapshot or in the folder.
    let path: String
    /// The identifier of a recording, otherwise the name that the user gave.
    let name: String
    /// The number of the call, if a history is kept.
    var call: Int?
    let size: Int64
    /// Opens the file for reading.
    let open: @Sendable () throws -> () throws -> [UInt8]?
  }

  /// The UUID of the snapshot, or the path of what is none.
  let name: String
  let files: [File]

  /// The files of a snapshot.
  init(_ snapshot: OpenSnapshot) {
    name = snapshot.manifest.id.description
    let recordings = Dictionary(snapshot.manifest.recordings.map { ($0.path, $0) }) { first, _ in first }
    files = snapshot.members.map { member in
      let recording = recordings[member.name]
      return File(
        path: member.name, name: recording?.identifier ?? member.originalName, call: recording?.call,
        size: member.size
      ) {
        let next = try snapshot.pieces(of: member.name)
        return { try next() }
      }
    }
  }

  /// The files of any source.
  init(_ source: SnapshotSource) throws(CommandFailure) {
    switch source {
    case .bundle, .snapshotFolder: self.init(try source.open())
    case .plainFile(let url):
      self.init(name: url.relativePath, files: [try Self.file(url, named: url.lastPathComponent)])
    case .appData(let url), .plainFolder(let url):
      var files: [File] = []
      do {
        try Self.forEachFile(in: url.path, "") { path in
          files.append(try Self.file(url.appending(path: path), named: path))
        }
      } catch let failure as CommandFailure {
        throw failure
      } catch {
        throw CommandFailure("\(error)")
      }
      self.init(name: url.relativePath, files: files)
    }
  }

  private init(name: String, files: [File]) { (self.name, self.files) = (name, files) }

  private static func file(_ url: URL, named name: String) throws(CommandFailure) -> File {
    do {
      let size = try Folder.size(of: url.path)
      return File(path: name, name: name, size: size) {
        let file = try SystemIO.File(url.path)
        var offset: Int64 = 0
        return {
          let piece = try file.read(upTo: 1 << 17, at: offset)
          offset += Int64(piece.count)
          return piece.isEmpty ? nil : piece
        }
      }
    } catch {
      throw CommandFailure("\(error)")
    }
  }

  /// Calls `body` with the path of each file in the folder, in order. Follows no links.
  private static func forEachFile(
    in folder: String, _ prefix: String, _ body: (String) throws -> Void
  ) throws {
    for name in try Folder.entries(folder).sorted() {
      let path = folder + "/" + name
      switch try Folder.kind(of: path) {
      case .folder: try forEachFile(in: path, prefix + name + "/", body)
      case .file: try body(prefix + name)
      default: break
      }
    }
  }
}
