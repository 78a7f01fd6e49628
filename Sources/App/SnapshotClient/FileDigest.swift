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
    try finish(GrowingDigest(of: path(of: url)), isCancelled: isCancelled)
  }

  /// Begins to read the regular file at `url` in the background.
  static func begin(_ url: URL) throws(SnapshotClientError) -> GrowingDigest {
    let digest = try GrowingDigest(of: path(of: url))
    digest.follow(to: .max)
    return digest
  }

  /// Reads what remains of the file. Throws ``SnapshotClientError/Code/cancelled`` when `isCancelled` returns true.
  static func finish(
    _ digest: GrowingDigest, isCancelled: () -> Bool
  ) throws(SnapshotClientError) -> ContentDigest {
    let result: ContentDigest
    do {
      result = try digest.finish(isCancelled: isCancelled).sha256
    } catch {
      throw SnapshotClientError(.file, error.description, cause: error)
    }
    guard !isCancelled() else { throw SnapshotClientError(.cancelled) }
    return result
  }

  private static func path(of url: URL) throws(SnapshotClientError) -> String {
    let path = url.resolvingSymlinksInPath().path
    guard Folder.isRegularFile(path) else {
      throw SnapshotClientError(.file, "\(url.path) is not a regular file")
    }
    return path
  }
}

extension ContentDigest {
  /// The value of `Repr-Digest` that states this digest (RFC 9530 §3).
  var fieldValue: String { DigestField(sha256: bytes).fieldValue }

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
