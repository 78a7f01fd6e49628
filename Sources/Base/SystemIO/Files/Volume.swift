#if canImport(Darwin)
  import Darwin
#else
  import CPlatform
  import Glibc
#endif

/// The file system that contains a folder. It can be synchronized as a whole, with one wait for any number of files.
///
/// If a write to the file system fails after this object was created, the next ``synchronize()`` throws once. The error
/// does not identify the affected file.
public final class Volume: Sendable {
  private let path: String
  private let owned: Descriptor

  /// The volume that contains the folder `path`; `nil` if the system cannot synchronize a whole volume reliably.
  ///
  /// Supported with ext4, XFS and Btrfs on Linux 5.17 or later, the first version that reports every write failure
  /// (syncfs(2)). Network file systems and file systems in user space can return before the data is durable.
  public static func holding(_ path: String) throws(SystemError) -> Volume? {
    #if os(Linux)
      guard kernelVersion >= (5, 17) else { return nil }
      let volume = try Volume(path)
      var status = snapshot_statfs()
      try retryingInterrupts("fstatfs", path) { fstatfs(volume.owned.number, &status) }
      return reliableKinds.contains(UInt32(truncatingIfNeeded: status.kind)) ? volume : nil
    #else
      return nil
    #endif
  }

  private init(_ path: String) throws(SystemError) {
    self.path = path
    owned = try Descriptor("open", path) { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
  }

  /// Waits until everything written before, contents and names, is on stable storage and survives a power failure.
  public func synchronize() throws(SystemError) {
    #if os(Linux)
      try retryingInterrupts("syncfs", path) { syncfs(owned.number) }
      FileObserver.report(path) { .flushVolume }
    #endif
  }

  #if os(Linux)
    /// The numbers in statfs(2) of ext4 (and ext2 and ext3), XFS and Btrfs.
    private static let reliableKinds: [UInt32] = [0xEF53, 0x5846_5342, 0x9123_683E]

    private static var kernelVersion: (Int, Int) {
      var name = utsname()
      guard uname(&name) == 0 else { return (0, 0) }
      let release = withUnsafeBytes(of: &name.release) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      let numbers = release.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
      return numbers.count == 2 ? (numbers[0], numbers[1]) : (0, 0)
    }
  #endif
}
