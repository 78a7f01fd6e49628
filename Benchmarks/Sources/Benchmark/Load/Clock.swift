import Glibc

/// Clocks in nanoseconds.
enum Clock {
  static var now: UInt64 { read(CLOCK_MONOTONIC) }
  /// The processor time of the calling thread.
  static var threadCPU: UInt64 { read(CLOCK_THREAD_CPUTIME_ID) }

  /// Runs `body`, and returns the processor time of the calling thread in seconds.
  static func threadSeconds<Failure>(_ body: () throws(Failure) -> Void) throws(Failure) -> Double {
    let start = threadCPU
    try body()
    return Double(threadCPU - start) / 1e9
  }

  private static func read(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
