import CPlatform
public import Foundation
import SystemIO

/// A child process. It is killed when the last reference is released, if it is still running.
///
/// It inherits only its three streams and no blocked or ignored signals. (Foundation's `Process` on Linux reads past a
/// buffer if more than a thousand descriptors are open, as in a run of many tests.)
public final class ChildProcess: Sendable {
  /// The process id.
  public let identifier: pid_t

  private let end: End

  /// A program could not be started.
  public struct Failure: Error {
    /// The program.
    public let program: String
    /// The error code of the system.
    public let code: POSIXErrorCode?
  }

  /// The end of the process, for several waiting tasks.
  private final class End: Sendable {
    let state = Lock<(status: Int32?, waiting: [CheckedContinuation<Int32, Never>])>((nil, []))

    /// Waits for the end of the process.
    func await(_ identifier: pid_t) {
      // The process id remains reserved until the status is collected, so that no signal can reach another process.
      var information = siginfo_t()
      while unsafe waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
      let (status, waiting) = state.withLock { state in
        var word: Int32 = 0
        while unsafe waitpid(identifier, &word, 0) < 0, errno == EINTR {}
        let signal = word & 0x7f
        let status = signal == 0 ? (word >> 8) & 0xff : signal
        defer { state = (status, []) }
        return (status, state.waiting)
      }
      for continuation in waiting { continuation.resume(returning: status) }
    }
  }

  /// Starts `program` (a path, or a name in PATH).
  /// - Parameters:
  ///   - environment: variables that are added to the environment of this process.
  ///   - folder: the working directory; `nil` for the current one.
  ///   - input: stdin. `nil` is `/dev/null`, also for the next two parameters.
  ///   - output: stdout.
  ///   - errors: stderr.
  ///   - inherited: descriptors that the process has as 3 and so on.
  public init(
    _ program: String, _ arguments: [String], environment: [String: String] = [:], folder: URL? = nil,
    input: FileHandle? = nil, output: FileHandle? = nil, errors: FileHandle? = nil, inherited: [Int32] = []
  ) throws {
    let merged = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    var words = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
    var variables = unsafe merged.map { unsafe strdup("\($0)=\($1)") } + [nil]
    defer { for text in unsafe words + variables { unsafe free(text) } }

    var started: pid_t = 0
    let code = unsafe Self.withOptions([input, output, errors], inherited, folder) { actions, attributes in
      unsafe posix_spawnp(&started, program, actions, attributes, &words, &variables)
    }
    guard code == 0 else { throw Failure(program: program, code: POSIXErrorCode(rawValue: code)) }
    identifier = started
    end = End()
    // A separate thread, because Dispatch has too few for the programs of all concurrent tests.
    Thread { [end, identifier] in end.await(identifier) }.start()
  }

  deinit { signal(SIGKILL) }

  /// Whether the process is still running.
  public var isRunning: Bool { end.state.withLock { $0.status == nil } }

  /// Sends `signal`, unless the process has ended.
  public func signal(_ signal: Int32) {
    end.state.withLock { state in
      if state.status == nil { kill(identifier, signal) }
    }
  }

  /// Waits for the end of the process.
  /// - Returns: the exit status, or the number of the signal that ended the process.
  public func waitForEnd() async -> Int32 {
    await withCheckedContinuation { continuation in
      let status = end.state.withLock { state in
        if state.status == nil { state.waiting.append(continuation) }
        return state.status
      }
      if let status { continuation.resume(returning: status) }
    }
  }
}

extension ChildProcess {
  #if canImport(Darwin)
    private typealias Actions = posix_spawn_file_actions_t?
    private typealias Attributes = posix_spawnattr_t?
  #else
    private typealias Actions = posix_spawn_file_actions_t
    private typealias Attributes = posix_spawnattr_t
  #endif

  /// Calls `body` with the options of a start: the three streams, the working directory, and the default signal state.
  private static func withOptions(
    _ streams: [FileHandle?], _ inherited: [Int32], _ folder: URL?,
    _ body: (UnsafePointer<Actions>, UnsafePointer<Attributes>) -> Int32
  ) -> Int32 {
    #if canImport(Darwin)
      var actions: Actions = nil
      var attributes: Attributes = nil
      let flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_CLOEXEC_DEFAULT
    #else
      var actions = Actions()
      var attributes = Attributes()
      let flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
    #endif
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for (number, stream) in streams.enumerated() {
      if let stream {
        unsafe posix_spawn_file_actions_adddup2(&actions, stream.fileDescriptor, Int32(number))
      } else {
        unsafe posix_spawn_file_actions_addopen(&actions, Int32(number), "/dev/null", O_RDWR, 0)
      }
    }
    for (index, descriptor) in inherited.enumerated() {
      unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(streams.count + index))
    }
    #if os(Linux)
      unsafe posix_spawn_file_actions_addclosefrom_np(&actions, Int32(streams.count + inherited.count))
    #endif
    if let folder { unsafe posix_spawn_file_actions_addchdir_np(&actions, folder.path) }

    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    unsafe sigfillset(&signals)
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    return unsafe body(&actions, &attributes)
  }
}
