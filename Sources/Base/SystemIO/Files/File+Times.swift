#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension File {
  /// When the contents were last changed, in milliseconds since 1970.
  public var modifiedAt: Int64 {
    get throws(SystemError) {
      var status = stat()
      try retryingInterrupts("fstat", path) { fstat(descriptor, &status) }
      #if canImport(Darwin)
        let time = status.st_mtimespec
      #else
        let time = status.st_mtim
      #endif
      return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
  }

  /// States when the contents were last changed, in milliseconds since 1970.
  public func setModifiedAt(_ milliseconds: Int64) throws(SystemError) {
    let (seconds, rest) = (milliseconds / 1000, milliseconds % 1000)
    // The rest of a time before 1970 is negative, but a time's fraction never is.
    let time = timespec(
      tv_sec: Int(rest < 0 ? seconds - 1 : seconds), tv_nsec: Int(rest < 0 ? rest + 1000 : rest) * 1_000_000)
    let times = [time, time]
    try retryingInterrupts("futimens", path) { futimens(descriptor, times) }
  }
}
