#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Standard input, output and error.
public enum StandardStreams {
  /// Takes the numbers of those that were closed when the process started, so that no file or socket gets one and
  /// then receives what is meant for a person. Writing to them goes on failing. Call it before anything is opened.
  public static func occupyClosed() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
      // The lowest free number is the one that is given.
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}
