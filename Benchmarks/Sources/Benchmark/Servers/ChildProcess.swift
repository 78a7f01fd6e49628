import Foundation

/// A child process, and the resources that it has used.
final class ChildProcess {
  let program: String
  let id: pid_t
  private var hasEnded = false
  private static let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))

  /// Starts a program.
  /// - Parameters:
  ///   - core: the core that it runs on; negative for all cores.
  ///   - log: the file for its output.
  init(_ launch: Launch, core: Int32, log: String = "/dev/null") throws {
    program = launch.program
    let environment = ProcessInfo.processInfo.environment.merging(launch.environment) { $1 }
    let words = ([launch.program] + launch.arguments).map { strdup($0) } + [nil]
    let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in words + variables { free(text) } }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    var id: pid_t = 0
    Cores.bind(to: core)
    let result = posix_spawnp(&id, launch.program, &actions, nil, words, variables)
    Cores.bind(to: Cores.generator)
    guard result == 0 else {
      throw Failure("cannot start \(launch.program): \(String(cString: strerror(result)))")
    }
    self.id = id
  }

  /// Runs a program on all cores, waits for its end, and returns the time in seconds. Throws if the program fails.
  static func run(_ launch: Launch, core: Int32 = Cores.all, log: String = "/dev/null") throws -> Double {
    try measure(launch, core: core, log: log).seconds
  }

  /// Runs a program as ``run(_:core:log:)`` does, and also returns its processor time in seconds.
  static func measure(
    _ launch: Launch, core: Int32 = Cores.all, log: String = "/dev/null"
  ) throws -> (seconds: Double, cpuSeconds: Double) {
    let start = Clock.now
    let process = try ChildProcess(launch, core: core, log: log)
    var status: Int32 = 0
    var usage = rusage()
    while wait4(process.id, &status, 0, &usage) < 0, errno == EINTR {}
    process.hasEnded = true
    guard status == 0 else {
      throw Failure("\(([launch.program] + launch.arguments).joined(separator: " ")) failed; see \(log)")
    }
    let cpu = [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
    return (Double(Clock.now - start) / 1e9, cpu)
  }

  var isRunning: Bool {
    guard !hasEnded else { return false }
    hasEnded = waitpid(id, nil, WNOHANG) == id
    return !hasEnded
  }

  func stop() {
    guard isRunning else { return }
    kill(id, SIGTERM)
    for _ in 0..<5000 where isRunning { usleep(1000) }
    guard isRunning else { return }
    kill(id, SIGKILL)
    waitpid(id, nil, 0)
    hasEnded = true
  }

  /// The processor time of the process and its children, in seconds.
  var cpuSeconds: Double {
    family.reduce(0) { sum, id in
      let fields = text("/proc/\(id)/stat").split(separator: ")").last?.split(separator: " ") ?? []
      guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
        return sum
      }
      return sum + (user + system) / Self.ticks
    }
  }

  /// The largest resident memory of the process and its children, in bytes. The master of nginx does no work.
  var residentBytes: Int { status("VmRSS:") }
  /// The maximum of ``residentBytes`` so far.
  var peakResidentBytes: Int { status("VmHWM:") }

  private func status(_ key: String) -> Int {
    family.map { id in
      for line in text("/proc/\(id)/status").split(separator: "\n") where line.hasPrefix(key) {
        return (line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
      }
      return 0
    }.max() ?? 0
  }

  private var family: [pid_t] {
    [id] + text("/proc/\(id)/task/\(id)/children").split(separator: " ").compactMap { pid_t($0) }
  }

  private func text(_ path: String) -> String {
    guard let data = FileManager.default.contents(atPath: path) else { return "" }
    return String(decoding: data, as: UTF8.self)
  }
}
