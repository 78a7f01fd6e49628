/// Small requests while five thousand clients do their worst, against the same requests while there are none.
extension Bench {
  mutating func measureSlowClients() throws {
    let large = try bundle("100MB", 100_000_000)
    let small = try bundle("100KB", 100_000)
    for ours in [Contestant.engine, .serve] {
      let server = try start(ours)
      try large.publish(on: server)
      try small.publish(on: server)
      let probe: Exchange = .get(
        ours == .serve ? "/v1/snapshots/\(small.id)" : "/small", expecting: nil)
      let seconds = effort.seconds
      func p99() throws -> Double {
        try server.run([Work(16, probe)], seconds: seconds).loads[0].milliseconds(percentile: 0.99)
      }
      let work = "small GET, 16 connections beside 5 × \(SlowCrowd.clientsOfAKind) slow clients"
      let results = race(work, [server], rounds: min(3, effort.rounds)) { _ in
        let idle = try p99()
        let crowd = SlowCrowd(
          port: server.port, upload: ours.upload(1_000_000, large), download: ours.download(large))
        defer { withExtendedLifetime(crowd) {} }
        return [.p99: try p99(), .idleP99: idle]
      }
      let values: [String: [Metric: Double]] = [
        ours.name: [.p99: results[ours]?[.p99] ?? .nan],
        Peer.idle.rawValue: [.p99: results[ours]?[.idleP99] ?? .nan],
      ]
      report.rows.append(
        Row(ours == .serve ? "\(work), snapshot serve" : work, .p99, ours: ours.name, values, [.idle: 2]))
    }
  }
}
