#if canImport(Darwin)
  import Darwin
#else
  import CPlatform
  import Glibc
#endif

extension Folder {
  /// Who owns a file or folder, and who may use it.
  public struct Ownership: Sendable, Hashable {
    /// The user id of the owner.
    public let owner: UInt32
    /// The permission bits.
    public let permissions: UInt16
    /// The time of the last change of the contents, in seconds since 1970.
    public let modified: Int64

    /// Whether a user other than the owner may read, write or search it.
    public var isOpenToOthers: Bool { permissions & 0o077 != 0 }
  }

  /// The ownership of the file or folder at `path`; `nil` if there is none. Links are not followed.
  public static func ownership(of path: String) throws(SystemError) -> Ownership? {
    var status = stat()
    do {
      try retryingInterrupts("lstat", path) { lstat(path, &status) }
    } catch  where error.isNotFound {
      return nil
    }
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    return Ownership(
      owner: UInt32(status.st_uid), permissions: UInt16(status.st_mode & 0o7777), modified: Int64(time.tv_sec)
    )
  }

  /// The number of bytes, and of files, of the file system of `path`: in all, and those that an unprivileged process
  /// can still use. Some file systems have no limit of files, and report 0.
  public static func capacity(
    of path: String
  ) throws(SystemError) -> (bytes: Int64, freeBytes: Int64, files: Int64, freeFiles: Int64) {
    var status = statvfs()
    try retryingInterrupts("statvfs", path) { statvfs(path, &status) }
    func bytes(_ blocks: some BinaryInteger) -> Int64 {
      let (bytes, overflow) = Int64(clamping: blocks).multipliedReportingOverflow(by: Int64(status.f_frsize))
      return overflow ? .max : bytes
    }
    return (
      bytes(status.f_blocks), bytes(status.f_bavail), Int64(clamping: status.f_files),
      Int64(clamping: status.f_favail)
    )
  }
}

extension Volume {
  /// The name of the kind of file system that contains `path`, if it is one that can lose data that was synchronized,
  /// or can't be locked reliably: those on a network, in memory or in user space.
  public static func unsuitableKind(of path: String) throws(SystemError) -> String? {
    #if os(Linux)
      let folder = try Descriptor("open", path) { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
      var status = snapshot_statfs()
      try retryingInterrupts("fstatfs", path) { fstatfs(folder.number, &status) }
      return unsuitableKinds[UInt32(truncatingIfNeeded: status.kind)]
    #else
      return nil
    #endif
  }

  #if os(Linux)
    /// The numbers in statfs(2).
    private static let unsuitableKinds: [UInt32: String] = [
      0x6969: "NFS", 0x517B: "SMB", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB", 0x6573_5546: "FUSE",
      0x0102_1997: "9P", 0x0102_1994: "tmpfs, in memory", 0x8584_58F6: "ramfs, in memory",
      0x00C3_6400: "Ceph", 0x794C_7630: "overlayfs, of a container",
    ]
  #endif
}

extension SystemClock {
  /// Whether the system keeps the clock synchronized with others; `nil` if that is not known.
  public static var isSynchronized: Bool? {
    #if os(Linux)
      let state = snapshot_clock_state()
      return state < 0 ? nil : state != SNAPSHOT_TIME_ERROR
    #else
      return nil
    #endif
  }
}

/// The user that the process runs as.
public enum CurrentUser {
  /// The effective user id.
  public static var id: UInt32 { UInt32(geteuid()) }
}
