import Crypto
import Foundation
import SnapshotFormat
import SystemIO

/// The digest of a file, read piece by piece.
enum FileDigest {
  private static let pieceBytes = 1024 * 1024

  /// Reads the regular file at `url`; stops with ``SnapshotClientError/Code/cancelled`` when asked to.
  static func compute(
    _ url: URL, isCancelled: () -> Bool
  ) throws(SnapshotClientError) -> ContentDigest {
    let path = url.resolvingSymlinksInPath().path
    guard Folder.isRegularFile(path) else {
      throw SnapshotClientError(.file, "\(url.path) is not a regular file")
    }
    do throws(SystemError) {
      let file = try File(path, .read)
      var hash = SHA256()
      var offset: Int64 = 0
      while !isCancelled() {
        let piece = try file.read(upTo: pieceBytes, at: offset)
        if piece.isEmpty { return ContentDigest(hash.finalize()) }
        hash.update(data: piece)
        offset += Int64(piece.count)
      }
    } catch {
      throw SnapshotClientError(.file, error.description, cause: error)
    }
    throw SnapshotClientError(.cancelled)
  }
}
