import Foundation

extension Bench {
  /// Measures connections with one exchange each, opened one after the other.
  mutating func measureNewConnections(
    _ title: String, _ servers: [Server], ours: Contestant, _ exchange: Exchange, _ targets: [Target]
  ) {
    let seconds = effort.seconds
    let results = race(title, servers) { server in
      let start = Clock.now
      let before = server.process.cpuSeconds
      var count = 0
      while Clock.now < start + UInt64(seconds * 1e9) {
        _ = try server.run([Work(1, exchange)], seconds: 0, isWarmedUp: false)
        count += 1
      }
      let time = Double(Clock.now - start) / 1e9
      return [
        .requestsPerSecond: Double(count) / time,
        .cpuMilliseconds: (server.process.cpuSeconds - before) / Double(count) * 1000,
      ]
    }
    add("\(title), one after the other", .requestsPerSecond, ours: ours, results, targets)
    add("\(title), one after the other", .cpuMilliseconds, ours: ours, results)
  }
}
