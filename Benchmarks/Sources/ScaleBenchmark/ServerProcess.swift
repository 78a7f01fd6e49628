import Foundation

/// A running `snapshot serve`, and the resources that it uses.
final class ServerProcess {
  let port: UInt16
  /// The time from the start of the process to the first response with status 200.
  let secondsToStart: Double
  /// The processor time until then.
  let processorSecondsToStart: Double
  private let id: pid_t
  private var hasEnded = false

  /// Starts the server, and returns when it answers.
  init(_ program: String, storage: String, log: String) throws {
    port = try Self.freePort()
    let begin = Clock.now
    id = try Self.spawn(
      [program, "serve", "--port", "\(port)", "--storage", storage],
      ["SNAPSHOT_SERVER_LOG_LEVEL=warning", "SNAPSHOT_SERVER_EVENT_LOOPS=1"], log: log)
    var end = begin
    var isUp = false
    while !isUp, end - begin < 120 {
      guard waitpid(id, nil, WNOHANG) == 0 else { throw Failure("the server ended; see \(log)") }
      do {
        try Connection(port: port).perform("GET", "/healthz")
        isUp = true
      } catch {
        usleep(200)
      }
      end = Clock.now
    }
    (secondsToStart, processorSecondsToStart) = (end - begin, Clock.processor(of: id))
    guard isUp else {
      kill()
      throw Failure("the server does not answer; see \(log)")
    }
  }

  deinit { kill() }

  /// The processor time that the process has used, in seconds.
  var processorSeconds: Double { Clock.processor(of: id) }
  /// The resident memory in bytes.
  var residentBytes: Double { status("VmRSS:") }
  /// The maximum of ``residentBytes`` so far.
  var peakResidentBytes: Double { status("VmHWM:") }

  /// Ends the server in good order, and returns the seconds that this took.
  @discardableResult
  func stop() throws -> Double {
    let begin = Clock.now
    Glibc.kill(id, SIGTERM)
    while Clock.now - begin < 120 {
      if waitpid(id, nil, WNOHANG) == id {
        hasEnded = true
        return Clock.now - begin
      }
      usleep(200)
    }
    kill()
    throw Failure("the server does not end")
  }

  /// Kills the server, as a crash would.
  func kill() {
    guard !hasEnded else { return }
    hasEnded = true
    Glibc.kill(id, SIGKILL)
    waitpid(id, nil, 0)
  }

  /// Waits until the server reports that its lists are complete, and returns the seconds since the call.
  @discardableResult
  func waitUntilReady(limit: Double = 3600) throws -> Double {
    let begin = Clock.now
    let connection = try Connection(port: port)
    while try !connection.perform("GET", "/readyz", expecting: [200, 503]).text.contains(#""ready""#) {
      guard Clock.now - begin < limit else { throw Failure("the server is not ready after \(limit) s") }
      usleep(20_000)
    }
    return Clock.now - begin
  }

  /// Waits until the server does no work in the background: no millisecond of processor time in half a second.
  func waitUntilIdle(limit: Double = 3600) throws {
    let begin = Clock.now
    var before = -1.0
    while processorSeconds - before > 0.001 {
      guard Clock.now - begin < limit else { throw Failure("the server is not idle after \(limit) s") }
      before = processorSeconds
      usleep(500_000)
    }
  }

  private func status(_ key: String) -> Double {
    let text = FileManager.default.contents(atPath: "/proc/\(id)/status").map {
      String(decoding: $0, as: UTF8.self)
    }
    let line = text?.split(separator: "\n").first { $0.hasPrefix(key) }
    return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) } ?? .nan)
      * 1024
  }

  private static func spawn(_ words: [String], _ variables: [String], log: String) throws -> pid_t {
    let inherited = ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
    let (arguments, environment) = (
      words.map { strdup($0) } + [nil], (inherited + variables).map { strdup($0) } + [nil]
    )
    defer { for text in arguments + environment { free(text) } }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    var id: pid_t = 0
    let result = posix_spawn(&id, words[0], &actions, nil, arguments, environment)
    guard result == 0 else { throw Failure("cannot start \(words[0]): \(String(cString: strerror(result)))") }
    return id
  }

  /// Runs a program, and waits for its end. Throws if it fails.
  static func run(_ words: [String], log: String) throws {
    let id = try spawn(words, [], log: log)
    var status: Int32 = 0
    while waitpid(id, &status, 0) < 0, errno == EINTR {}
    guard status == 0 else { throw Failure("\(words.joined(separator: " ")) failed; see \(log)") }
  }

  private static func freePort() throws -> UInt16 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in(port: 0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
      }
    }
    guard isBound else { throw Failure("no free port: \(Failure.lastError)") }
    return UInt16(bigEndian: address.sin_port)
  }
}

/// Clocks in seconds.
enum Clock {
  static var now: Double { read(CLOCK_MONOTONIC) }

  /// The processor time of a process, including threads that have ended.
  static func processor(of id: pid_t) -> Double {
    var clock = clockid_t()
    return clock_getcpuclockid(id, &clock) == 0 ? read(clock) : .nan
  }

  private static func read(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
