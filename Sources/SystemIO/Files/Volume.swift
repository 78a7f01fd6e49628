#if canImport(Darwin)
  import Darwin
#else
  import CPlatform
  import Glibc
#endif

/// A file system on which everything can be flushed in one go.
public final class Volume: Sendable {
  private let path: String
  private let descriptor: Int32

  /// The file system of the folder `path`; `nil` where one call could not make everything on it last, or would not
  /// tell that it failed: on Darwin, before Linux 5.8, and on file systems that pass flushes on to something else.
  public init?(of path: String) throws(SystemError) {
    #if canImport(Darwin)
      return nil
    #else
      self.path = path
      descriptor = try retryingInterrupts("open", path) { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
      var status = [Int](repeating: 0, count: 32)
      try retryingInterrupts("fstatfs", path) { fstatfs(descriptor, &status) }
      let known = [Int(SNAPSHOT_EXT), Int(SNAPSHOT_XFS), Int(SNAPSHOT_BTRFS)]
      guard known.contains(status[0]), Self.reportsFailures else { return nil }
    #endif
  }

  deinit { close(descriptor) }

  /// Waits until all that was written to the file system up to now, by whomever, would survive a power cut.
  public func synchronize() throws(SystemError) {
    #if !canImport(Darwin)
      try retryingInterrupts("syncfs", path) { syncfs(descriptor) }
    #endif
  }

  #if !canImport(Darwin)
    /// Linux tells of what could not be written since 5.8.
    private static let reportsFailures: Bool = {
      var name = utsname()
      guard uname(&name) == 0 else { return false }
      let release = withUnsafeBytes(of: &name.release) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      let version = release.split(separator: ".").prefix(2).map { Int($0.prefix(while: \.isNumber)) ?? 0 }
      return !version.lexicographicallyPrecedes([5, 8])
    }()
  #endif
}
