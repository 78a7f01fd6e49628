import Dispatch

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

  /// Calls `body` with the number of a signal that is to end the process: `SIGHUP`, `SIGINT` or `SIGTERM`. Call it once. A
  /// signal that the process ignores because its parent does, as under `nohup`, remains ignored.
  public static func onInterruption(_ body: @escaping @Sendable (Int32) -> Void) {
    let queue = DispatchQueue(label: "snapshot.interruption", qos: .userInitiated)
    for number in [SIGHUP, SIGINT, SIGTERM] {
      var former = sigaction()
      guard unsafe sigaction(number, nil, &former) == 0, !isIgnored(former) else { continue }
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler {
        // Keeps the source, which would otherwise be released.
        withExtendedLifetime(source) { body(number) }
      }
      #if canImport(Darwin)
        signal(number, SIG_IGN)
      #endif
      source.activate()
    }
  }

  private static func isIgnored(_ action: sigaction) -> Bool {
    #if canImport(Darwin)
      let handler = unsafe action.__sigaction_u.__sa_handler
    #else
      let handler = unsafe action.__sigaction_handler.sa_handler
    #endif
    return unsafe unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// Ends the process as the signal `number` does by default.
  public static func end(by number: Int32) -> Never {
    signal(number, SIG_DFL)
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, number)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    raise(number)
    // The first process of a container ignores the default.
    _exit(128 + number)
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
