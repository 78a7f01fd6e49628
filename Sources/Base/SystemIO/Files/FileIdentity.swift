#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Identifies a file independently of its name. No two existing files have the same identity; the system can reuse the
/// identity of a deleted file.
public struct FileIdentity: Sendable, Hashable {
  private let device: UInt64
  private let inode: UInt64

  fileprivate init(_ status: stat) {
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(truncatingIfNeeded: status.st_ino)
  }
}

extension File {
  /// The identity of this file.
  public var identity: FileIdentity {
    get throws(SystemError) {
      var status = stat()
      try retryingInterrupts("fstat", path) { fstat(descriptor, &status) }
      return FileIdentity(status)
    }
  }
}

extension File {
  var identityIfOpen: FileIdentity? { do { return try identity } catch { return nil } }
}

extension Folder {
  /// The identity of the file at `path` and its length in bytes; `nil` if there is none. Links are not followed.
  public static func file(at path: String) throws(SystemError) -> (identity: FileIdentity, size: Int64)? {
    var status = stat()
    do {
      try retryingInterrupts("lstat", path) { lstat(path, &status) }
    } catch  where error.isNotFound {
      return nil
    }
    return (FileIdentity(status), Int64(status.st_size))
  }
}
