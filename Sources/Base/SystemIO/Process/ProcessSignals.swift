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

  /// Runs `body` so that a broken pipe or connection raises no `SIGPIPE` on this thread, whatever the process does
  /// with that signal: the call fails with `EPIPE`, `sendfile` too, which has no flag for it. On Darwin sockets see
  /// to it themselves.
  public static func withoutBrokenPipe(_ body: () -> Void) {
    #if canImport(Darwin)
      body()
    #else
      var broken = sigset_t()
      var former = sigset_t()
      sigemptyset(&broken)
      sigaddset(&broken, SIGPIPE)
      pthread_sigmask(SIG_BLOCK, &broken, &former)
      body()
      // What was raised meanwhile waits for the thread, which others may use next.
      var now = timespec()
      if sigismember(&former, SIGPIPE) == 0 {
        while sigtimedwait(&broken, nil, &now) == SIGPIPE {}
      }
      pthread_sigmask(SIG_SETMASK, &former, nil)
    #endif
  }
}
