#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension Folder {
  /// Tells one state of a folder's list of names from another: it changes whenever a name comes, goes or is given to
  /// another file. Two changes within one tick of the system's clock, up to 10 ms, may leave the same one.
  public struct Stamp: Sendable, Hashable {
    private let device: UInt64
    private let inode: UInt64
    /// When the list of names was last changed, in nanoseconds since 1970.
    public let changedNanoseconds: Int64

    fileprivate init(_ status: stat) {
      device = UInt64(truncatingIfNeeded: status.st_dev)
      inode = UInt64(truncatingIfNeeded: status.st_ino)
      #if canImport(Darwin)
        let time = status.st_mtimespec
      #else
        let time = status.st_mtim
      #endif
      changedNanoseconds = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
  }

  /// The stamp of the folder at `path`; `nil` where there is none.
  public static func stamp(_ path: String) throws(SystemError) -> Stamp? {
    var status = stat()
    do {
      try retryingInterrupts("stat", path) { stat(path, &status) }
    } catch  where error.isNotFound {
      return nil
    }
    return Stamp(status)
  }
}
