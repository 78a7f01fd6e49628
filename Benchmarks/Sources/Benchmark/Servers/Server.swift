import CBenchmark
import Foundation

/// A contestant that runs, on a core of its own, over a folder of its own.
final class Server {
  let contestant: Contestant
  let port: UInt16
  let folder: String
  private(set) var process: ChildProcess
  /// From exec to the first 200, in seconds.
  let startUp: Double
  /// The number of the next exchange, over all runs.
  var nextNumber = 0
  private let launch: Launch

  init(
    _ contestant: Contestant, _ tools: Tools, in parent: String, environment: [String: String] = [:]
  ) throws {
    self.contestant = contestant
    port = try Self.freePort()
    folder = "\(parent)/\(contestant.rawValue)-\(port)"
    for name in ["files", "uploads"] {
      try FileManager.default.createDirectory(
        atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
    }
    var launch = try contestant.launch(tools, port: port, folder: folder)
    launch.environment.merge(environment) { $1 }
    self.launch = launch
    (process, startUp) = try Self.begin(contestant, launch, port: port, log: "\(folder)/log")
  }

  deinit {
    process.stop()
    do { try FileManager.default.removeItem(atPath: folder) } catch { print("left behind: \(error)") }
  }

  /// Starts anew with nothing uploaded, so that what is still checked in the background is in nobody's way.
  ///
  /// What was uploaded stays to the end: a file system that has just lost many files may be slow at making new ones.
  func restart() throws {
    process.stop()
    try FileManager.default.moveItem(atPath: uploads, toPath: "\(folder)/former-\(nextNumber)")
    try FileManager.default.createDirectory(atPath: uploads, withIntermediateDirectories: false)
    process = try Self.begin(contestant, launch, port: port, log: "\(folder)/log").process
  }

  private static func begin(
    _ contestant: Contestant, _ launch: Launch, port: UInt16, log: String
  ) throws -> (process: ChildProcess, seconds: Double) {
    let start = Clock.now
    let process = try ChildProcess(launch, core: Cores.server, log: log)
    do {
      try waitUntilReady(port: port, contestant.probe, process)
    } catch {
      process.stop()
      throw error
    }
    return (process, Double(Clock.now - start) / 1e9)
  }

  /// Runs `works` against it, and tells what it took of the processor.
  /// - Parameters:
  ///   - isWarmedUp: whether every connection has one exchange before the clock runs.
  ///   - crowd: acts meanwhile.
  func run(
    _ works: [Work], seconds: Double, limit: Int = .max, isWarmedUp: Bool = true,
    beside crowd: SlowCrowd? = nil
  ) throws -> (loads: [Load], cpuSeconds: Double) {
    let generator = try LoadGenerator(port: port, works, first: nextNumber)
    if isWarmedUp { _ = try generator.run(seconds: 0) }
    let before = process.cpuSeconds
    let loads = try generator.run(seconds: seconds, limit: limit, beside: crowd)
    let cpu = process.cpuSeconds - before
    nextNumber = generator.nextNumber
    return (loads, cpu)
  }

  private var uploads: String { contestant == .serve ? "\(folder)/storage" : "\(folder)/uploads" }

  /// Removes what was uploaded so far.
  func clearUploads() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: uploads) {
      try FileManager.default.removeItem(atPath: "\(uploads)/\(name)")
    }
  }

  private static func waitUntilReady(port: UInt16, _ path: String, _ process: ChildProcess) throws {
    let deadline = Clock.now + 20_000_000_000
    while Clock.now < deadline {
      guard process.isRunning else { throw Failure("\(process.program) ended at once") }
      do {
        let generator = try LoadGenerator(port: port, [Work(1, .get(path, expecting: nil))])
        _ = try generator.run(seconds: 0)
        return
      } catch {
        usleep(200)
      }
    }
    throw Failure("\(process.program) does not answer")
  }

  private static func freePort() throws -> UInt16 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
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
