#if canImport(Darwin)
  import Darwin
#else
  import CPlatform
  import Glibc
#endif

/// The file system that a folder lies on, to be flushed as a whole: one wait for the disk, however many files.
///
/// A failure to write anything to the file system since this object was made, or since its last failure, is told
/// once, by the next ``synchronize()`` of this object: it does not say whose bytes were lost.
public final class Volume: Sendable {
  private let path: String
  private let owned: Descriptor

  /// The volume of the folder `path`; `nil` where a flush of everything does not exist or can't be relied upon.
  ///
  /// It can be on Linux from 5.17 on, which is the first that tells of every failure (syncfs(2)), with ext4, XFS and
  /// Btrfs. A network file system or one in user space may answer before anything lasts.
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

  /// Waits until everything that was written before would survive a power cut, contents and names alike.
  public func synchronize() throws(SystemError) {
    #if os(Linux)
      try retryingInterrupts("syncfs", path) { syncfs(owned.number) }
      FileObserver.note(path) { .flushVolume }
    #endif
  }

  #if os(Linux)
    /// ext4 and its forebears, XFS, Btrfs: their numbers in statfs(2).
    private static let reliableKinds: Set<UInt32> = [0xEF53, 0x5846_5342, 0x9123_683E]

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
