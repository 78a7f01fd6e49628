import Foundation

/// The machine and the versions of the programs.
struct Machine: Codable {
  var processor: String
  var cores: Int
  var memoryGigabytes: Double
  var kernel: String
  var system: String
  var versions: [String: String]

  init(_ tools: Tools) {
    processor =
      Self.line(in: "/proc/cpuinfo", "model name").split(separator: ":").last
      .map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown"
    cores = Int(Cores.count)
    memoryGigabytes = (Double(ProcessInfo.processInfo.physicalMemory) / 1e9 * 10).rounded() / 10
    var name = utsname()
    uname(&name)
    kernel = withUnsafePointer(to: &name.release) {
      $0.withMemoryRebound(to: CChar.self, capacity: 65) { String(cString: $0) }
    }
    system =
      Self.line(in: "/etc/os-release", "PRETTY_NAME").split(separator: "\"").last.map(String.init)
      ?? "unknown"
    versions = ["Hummingbird": "2.28.1", "FlyingFox": "0.27.1"]
    versions["nginx"] = Self.output([tools.nginx, "-v"])?.split(separator: "/").last.map(String.init)
    versions["Swift"] = Self.output(["swift", "--version"])
      .flatMap { $0.split(separator: "Swift version ").last?.split(separator: " ").first.map(String.init) }
    versions["Info-ZIP"] = Self.output(["zip", "-v"])?.split(separator: "\n").dropFirst().first
      .flatMap { $0.split(separator: " ").dropFirst(3).first.map(String.init) }
    versions["bsdtar"] = Self.output(["bsdtar", "--version"])?.split(separator: " ").dropFirst().first.map(
      String.init)
    versions["Python"] = Self.output(["python3", "--version"])?.split(separator: " ").last.map(String.init)
  }

  var lines: [String] {
    [
      "\(processor), \(cores) cores, \(memoryGigabytes) GB, \(system), Linux \(kernel)",
      versions.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "),
      cores > 1
        ? "Every server has core 0 to itself, the load generator core 1; those in Swift are built with -O and a static standard library."
        : "Server and load generator share one core, so the results are not meaningful.",
    ]
  }

  private static func line(in path: String, _ prefix: String) -> String {
    guard let data = FileManager.default.contents(atPath: path) else { return "" }
    return String(decoding: data, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix(prefix) }
      .map(String.init) ?? ""
  }

  /// The output of a program; `nil` if it cannot be started.
  private static func output(_ words: [String]) -> String? {
    let log = FileManager.default.temporaryDirectory.appending(path: "version-\(UUID().uuidString)")
    defer { do { try FileManager.default.removeItem(at: log) } catch {} }
    do {
      _ = try ChildProcess.run(Launch(words[0], Array(words.dropFirst())), log: log.path)
      return String(decoding: try Data(contentsOf: log), as: UTF8.self)
        .trimmingCharacters(in: .whitespacesAndNewlines)
    } catch {
      return nil
    }
  }
}
