#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The system's clocks, read without a system call.
public enum SystemClock {
  /// Nanoseconds since an unspecified point in the past; never decreases.
  public static var monotonicNanoseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Whole seconds since 1970, UTC.
  public static var unixSeconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec)
  }
}
