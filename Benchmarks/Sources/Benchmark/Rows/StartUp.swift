/// The time from exec to the first response with status 200.
extension Bench {
  mutating func measureStartUp() throws {
    var times: [Contestant: [Double]] = [:]
    for _ in 0..<effort.starts {
      for contestant in [Contestant.engine, .serve, .nginx, .hummingbird, .flyingFox] {
        times[contestant, default: []].append(try start(contestant).startUp * 1000)
      }
    }
    let bare = try (0..<effort.starts).map { _ in
      try ChildProcess.run(
        Launch(options.tools.snapshot, ["--version"]), core: Cores.server, log: "\(options.work)/version.log")
        * 1000
    }
    let results = times.mapValues { [Metric.milliseconds: $0] }
    add(
      "exec to the first 200", .milliseconds, ours: .engine, results,
      [.of(.hummingbird, 0.3), .of(.flyingFox, 0.3)])
    add(
      "exec to the first 200, snapshot serve", .milliseconds, ours: .serve, results,
      [.absolute(50)],
      limit:
        "starting the process takes \(Metric.milliseconds.format(bare.median)) ms of it: snapshot --version")
  }
}
