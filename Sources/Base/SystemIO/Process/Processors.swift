#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The machine's processors.
public enum Processors {
  /// The number of processors that are online, at least 1.
  public static var count: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }
}
