import Foundation
import HTTPSemantics
import HTTPTypes
import SnapshotFormat
import SystemIO

/// Computes the digest of a file.
enum FileDigest {
  /// Reads the regular file at `url`. Throws ``SnapshotClientError/Code/cancelled`` when `isCancelled` returns true.
  static func compute(
    _ url: URL, isCancelled: () -> Bool
  ) throws(SnapshotClientError) -> ContentDigest {
    let path = url.resolvingSymlinksInPath().path
    guard Folder.isRegularFile(path) else {
      throw SnapshotClientError(.file, "\(url.path) is not a regular file")
    }
    var computation = DigestComputation()
    do throws(SystemError) {
      try computation.follow(File(path), isCancelled: isCancelled)
    } catch {
      throw SnapshotClientError(.file, error.description, cause: error)
    }
    guard !isCancelled() else { throw SnapshotClientError(.cancelled) }
    return computation.digest
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
