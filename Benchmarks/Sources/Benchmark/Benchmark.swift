import Foundation

/// Compares the server with its peers, with the same work in the same run, and prints the ratios.
@main
struct Benchmark {
  static func main() {
    do {
      var options = try Options(Array(CommandLine.arguments.dropFirst()))
      // A folder of its own, so that files of an interrupted or a concurrent run are neither used nor removed.
      options.work += "/run-\(getpid())"
      raiseDescriptorLimit()
      signal(SIGPIPE, SIG_IGN)
      Cores.bind(to: Cores.generator)
      try FileManager.default.createDirectory(atPath: options.work, withIntermediateDirectories: true)
      defer { clean(options.work) }
      options.tools = try options.tools.copied(to: "\(options.work)/programs")
      var bench = Bench(options)
      let start = Clock.now
      for suite in Suite.allCases where options.only.isEmpty || options.only.contains(suite.rawValue) {
        bench.message("\(suite.rawValue) …")
        bench.perform(suite)
      }
      print(Table(report: bench.report).text)
      print("Measured in \((Clock.now - start) / 1_000_000_000) s.")
      if let json = options.json { try bench.report.json.write(to: URL(filePath: json)) }
      try judge(bench.report, options)
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
  }

  /// Fails if a measurement failed, or if a target is missed that earlier runs met.
  private static func judge(_ report: Report, _ options: Options) throws {
    var missed: [String] = []
    if let path = options.met {
      var met = try MetTargets(path: path)
      missed = met.missed(in: report)
      if options.updatesMet { try met.add(report) }
    }
    let lines =
      missed.map { "Met before, and missed in every round: \($0)" }
      + report.failures.map { "Not measured: \($0)" }
    if !lines.isEmpty { throw Failure(([""] + lines).joined(separator: "\n")) }
  }

  private static func clean(_ folder: String) {
    do { try FileManager.default.removeItem(atPath: folder) } catch {
      print("cannot remove the folder: \(error)")
    }
  }

  /// Allows descriptors for the connections of both sides.
  private static func raiseDescriptorLimit() {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = min(limit.rlim_max, 65_536)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}
