#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Signals that would end the process where a failed call is all that is wanted.
public enum ProcessSignals {
  /// Ignores `SIGPIPE` (a peer that went away) and `SIGXFSZ` (a file past the process's limit): the calls then fail
  /// with `EPIPE` and `EFBIG`. For the whole process; call it once at its start.
  public static func ignoreBrokenPipeAndFileSizeLimit() {
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
  }
}
