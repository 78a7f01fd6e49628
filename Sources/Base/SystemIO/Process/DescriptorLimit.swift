#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The number of descriptors that the process can have open at once.
public enum DescriptorLimit {
  #if canImport(Darwin)
    private static let resource = RLIMIT_NOFILE
  #else
    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  #endif

  /// The current limit. Every descriptor is less than it.
  public static var current: Int {
    var limit = rlimit()
    return getrlimit(resource, &limit) == 0 ? Int(clamping: limit.rlim_cur) : Int.max
  }

  /// The value up to which the process can raise the limit.
  public static var maximum: Int {
    var limit = rlimit()
    return getrlimit(resource, &limit) == 0 ? Int(clamping: limit.rlim_max) : Int.max
  }

  /// Raises the limit to `wanted` if the process is permitted to, otherwise to the highest permitted value; never
  /// lowers it. The usual limit of 1,024 exists for programs that use `select`. Affects the whole process; call it
  /// once, at its start.
  public static func raise(to wanted: Int) {
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return }
    let target = min(rlim_t(clamping: wanted), limit.rlim_max)
    guard target > limit.rlim_cur else { return }
    limit.rlim_cur = target
    // If the system refuses, the previous limit remains, and a server has to pause accepting connections earlier.
    setrlimit(resource, &limit)
  }
}
