#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// How the process handles signals.
public enum ProcessSignals {
  /// Ignores `SIGPIPE` (writing to a closed connection) and `SIGXFSZ` (a file larger than the process's limit): the
  /// calls then fail with `EPIPE` and `EFBIG`. Affects the whole process; call it once, at its start.
  public static func ignoreBrokenPipeAndFileSizeLimit() {
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
  }

  /// Lets `SIGTERM` and `SIGINT` end the process. That is the default, which the system ignores for the first process of
  /// a container: without this, such a process does not end until it handles these signals itself. Does nothing on
  /// Darwin, which has no such processes.
  public static func endOnTermination() {
    #if !canImport(Darwin)
      guard getpid() == 1 else { return }
      for number in [SIGTERM, SIGINT] { signal(number) { _exit(128 + $0) } }
    #endif
  }

  /// Runs `body` so that writing to a closed pipe or connection raises no `SIGPIPE` on this thread, however the process
  /// handles that signal: the call fails with `EPIPE`. This includes `sendfile`, which has no flag for it. Does nothing
  /// on Darwin, where sockets have an option for it.
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
      // A signal that was raised meanwhile is pending. Discard it, because other code uses this thread next.
      var now = timespec()
      if sigismember(&former, SIGPIPE) == 0 {
        while sigtimedwait(&broken, nil, &now) == SIGPIPE {}
      }
      pthread_sigmask(SIG_SETMASK, &former, nil)
    #endif
  }
}
