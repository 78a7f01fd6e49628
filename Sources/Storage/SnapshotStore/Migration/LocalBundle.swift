package import SnapshotFormat
package import SystemIO

/// The bytes of a bundle in a local file. A temporary file is removed with the last reference.
package final class LocalBundle: Sendable {
  /// The path of the file, which does not change.
  package let path: String
  private let isTemporary: Bool

  /// - Parameter isTemporary: whether the file is a copy for this purpose.
  package init(_ path: String, isTemporary: Bool) {
    self.path = path
    self.isTemporary = isTemporary
  }

  deinit {
    guard isTemporary else { return }
    // What remains is in a temporary folder.
    do throws(SystemError) { try Folder.removeIfPresent(path) } catch {}
  }

  /// The size and the digest of the file. Reads all of it.
  package func measure() async throws(SystemError) -> (size: Int64, sha256: ContentDigest) {
    try await ServerQueues.shared.readers.next.perform { [path] () throws(SystemError) in
      let file = try File(path)
      return (try file.size, try ContentDigest.of(contentsOf: file))
    }
  }
}
