#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// How many descriptors the process may have open at once.
public enum DescriptorLimit {
  #if canImport(Darwin)
    private static let resource = RLIMIT_NOFILE
  #else
    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  #endif

  /// The number in force; every descriptor is smaller.
  public static var current: Int {
    var limit = rlimit()
    return getrlimit(resource, &limit) == 0 ? Int(clamping: limit.rlim_cur) : Int.max
  }

  /// Raises the number as far as the process may, at most to `wanted`; never lowers it. The usual 1,024 is meant
  /// for programs that use `select`. For the whole process; call it once at its start.
  public static func raise(to wanted: Int) {
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return }
    let target = min(rlim_t(clamping: wanted), limit.rlim_max)
    guard target > limit.rlim_cur else { return }
    limit.rlim_cur = target
    // Where the system refuses, the number that was in force stays so, and accepting pauses that much earlier.
    setrlimit(resource, &limit)
  }
}
