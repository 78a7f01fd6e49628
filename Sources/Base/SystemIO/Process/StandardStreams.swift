#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Standard input, output and error.
public enum StandardStreams {
  /// Opens `/dev/null` for each standard stream that was closed when the process started. Otherwise a file or socket
  /// would get the stream's number and receive output that is meant for a person. Writing to these streams still fails.
  /// Call it before any file is opened.
  public static func occupyClosed() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
      // `open` returns the lowest free number, which is `descriptor`.
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  /// Reads what has arrived on standard input, at most `count` bytes, and waits if there is nothing. Returns nothing at the
  /// end.
  public static func readInput(upTo count: Int) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let length = try retryingInterrupts("read", "standard input") {
      unsafe bytes.withUnsafeMutableBytes { unsafe read(STDIN_FILENO, $0.baseAddress, $0.count) }
    }
    bytes.removeLast(count - Int(length))
    return bytes
  }
}
