import CBenchmark
import Foundation

/// A running contestant, on a core and with a folder of its own.
final class Server {
  let contestant: Contestant
  let port: UInt16
  let folder: String
  private(set) var process: ChildProcess
  /// The time from exec to the first response with status 200, in seconds.
  let startUp: Double
  /// The number of the next exchange, counted over all runs.
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
    do { try FileManager.default.removeItem(atPath: folder) } catch {
      print("cannot remove the folder: \(error)")
    }
  }

  /// Restarts the server without uploaded files, so that checks in the background do not affect later measurements.
  ///
  /// Uploaded files are kept to the end, because a file system can be slow at creating files after many were removed.
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
      try waitUntilReady(port: port, contestant, process)
    } catch {
      process.stop()
      throw error
    }
    return (process, Double(Clock.now - start) / 1e9)
  }

  /// A core is slower after a server that left it idle, so each server first has the time to make it busy, in seconds.
  private static let warmUp = 0.15

  /// Runs `works` against the server, and measures the server's processor time.
  /// - Parameters:
  ///   - isWarmedUp: whether every connection performs exchanges before the measurement.
  ///   - crowd: slow clients that act meanwhile.
  func run(
    _ works: [Work], seconds: Double, limit: Int = .max, isWarmedUp: Bool = true,
    beside crowd: SlowCrowd? = nil
  ) throws -> (loads: [Load], cpuSeconds: Double) {
    let generator = try LoadGenerator(
      port: port, works, first: nextNumber, isSecure: contestant.isSecure)
    if isWarmedUp { _ = try generator.run(seconds: Self.warmUp) }
    let before = process.cpuSeconds
    let loads = try generator.run(seconds: seconds, limit: limit, beside: crowd)
    let cpu = process.cpuSeconds - before
    nextNumber = generator.nextNumber
    return (loads, cpu)
  }

  private var uploads: String { contestant == .serve ? "\(folder)/storage" : "\(folder)/uploads" }

  /// Removes the uploaded files.
  func clearUploads() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: uploads) {
      try FileManager.default.removeItem(atPath: "\(uploads)/\(name)")
    }
  }

  private static func waitUntilReady(port: UInt16, _ contestant: Contestant, _ process: ChildProcess) throws {
    let deadline = Clock.now + 20_000_000_000
    while Clock.now < deadline {
      guard process.isRunning else { throw Failure("\(process.program) ended immediately") }
      do {
        let generator = try LoadGenerator(
          port: port, [Work(1, .get(contestant.probe, expecting: nil))], isSecure: contestant.isSecure)
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
