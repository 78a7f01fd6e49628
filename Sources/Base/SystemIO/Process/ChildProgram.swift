#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

// Apps of other systems can't start programs.
#if os(macOS) || os(Linux)
  /// A program that this process has started, in the same process group and with the same standard streams.
  public final class ChildProgram: Sendable {
    /// How a program ended.
    public enum End: Sendable, Hashable {
      /// It ended itself, with this status.
      case exited(Int32)
      /// The signal of this number ended it.
      case signaled(Int32)
    }

    /// The process id.
    public let identifier: Int32
    private let hasEnded = Lock(false)

    /// Starts a program. It inherits no descriptors that are closed on `exec`, and no handling of signals.
    /// - Parameters:
    ///   - program: a path, or a name that is looked for in `PATH`.
    ///   - arguments: the arguments after the program's name.
    ///   - environment: the whole environment of the program.
    public init(
      _ program: String, _ arguments: [String], environment: [String: String]
    ) throws(SystemError) {
      var words = ([program] + arguments).map { strdup($0) } + [nil]
      var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
      defer { for text in words + variables { free(text) } }
      #if canImport(Darwin)
        var attributes: posix_spawnattr_t?
      #else
        var attributes = posix_spawnattr_t()
      #endif
      posix_spawnattr_init(&attributes)
      defer { posix_spawnattr_destroy(&attributes) }
      var signals = sigset_t()
      sigemptyset(&signals)
      posix_spawnattr_setsigmask(&attributes, &signals)
      for number in [SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGXFSZ] { sigaddset(&signals, number) }
      posix_spawnattr_setsigdefault(&attributes, &signals)
      posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
      var started: pid_t = 0
      let code = posix_spawnp(&started, program, nil, &attributes, &words, &variables)
      guard code == 0 else { throw SystemError(operation: "posix_spawn", path: program, code: code) }
      identifier = started
    }

    /// Sends the signal `number`, unless the program has ended.
    public func signal(_ number: Int32) {
      hasEnded.withLock { hasEnded in
        if !hasEnded { kill(identifier, number) }
      }
    }

    /// Blocks the calling thread until the program has ended. Call it once.
    public func waitForEnd() -> End {
      var information = siginfo_t()
      // The process id stays reserved until `waitpid`, so that no signal can reach another process.
      while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
      return hasEnded.withLock { hasEnded in
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        hasEnded = true
        let signal = status & 0x7F
        return signal == 0 ? .exited((status >> 8) & 0xFF) : .signaled(signal)
      }
    }

    /// Whether a terminal sends its signals to this process itself, and so also to programs in the same group.
    public static var isInForeground: Bool {
      isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp()
    }
  }
#endif
