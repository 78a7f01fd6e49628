import Crypto
import Foundation
import HTTPSemantics
import HTTPTypes
import SnapshotFormat
import SystemIO

/// Computes the digest of a file in chunks.
enum FileDigest {
  private static let pieceBytes = 1024 * 1024

  /// Reads the regular file at `url`. Throws ``SnapshotClientError/Code/cancelled`` when `isCancelled` returns true.
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

extension ContentDigest {
  /// The digest stated by `Repr-Digest` in `fields` (RFC 9530 §3). An invalid field counts as missing; the caller then
  /// requests the digest from the snapshot's record.
  init?(statedIn fields: HTTPFields) {
    do {
      guard let bytes = try DigestField(.reprDigest, in: fields)?.sha256 else { return nil }
      self.init(bytes: bytes)
    } catch {
      return nil
    }
  }
}
