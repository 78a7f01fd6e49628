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
}
