/// The time from exec to the first response with status 200.
extension Bench {
  mutating func measureStartUp() throws {
    var times: [Contestant: [Double]] = [:]
    for _ in 0..<effort.starts {
      for contestant in [Contestant.engine, .serve, .nginx, .hummingbird, .flyingFox] {
        times[contestant, default: []].append(try start(contestant).startUp * 1000)
      }
    }
    let results = times.mapValues { [Metric.milliseconds: $0.median] }
    let bounds: [Peer: Double] = [.nginx: 0.6, .hummingbird: 0.3, .flyingFox: 0.3]
    add("exec to the first 200", .milliseconds, ours: .engine, results, bounds)
    add("exec to the first 200, snapshot serve", .milliseconds, ours: .serve, results, bounds)
  }
}
