/// Small requests while there are five thousand slow clients, compared with the same requests without them.
extension Bench {
  mutating func measureSlowClients() throws {
    let large = try bundle("100MB", 100_000_000)
    let small = try bundle("100KB", 100_000)
    for ours in [Contestant.engine, .serve] {
      let server = try start(ours)
      try large.publish(on: server)
      try small.publish(on: server)
      let probe = Work(
        16, .get(ours == .serve ? "/v1/snapshots/\(small.id)" : "/small", expecting: nil))
      // Distinct from all other numbers of the server.
      var uploads = 1_000_000
      let work = "small GET, 16 connections beside \(crowdName)"
      let bench = self
      let results = race(work, [server]) { _ in
        let idle = try bench.p99(of: probe, on: server)
        let crowd = SlowCrowd(
          bench.options.slow, port: server.port,
          upload: {
            uploads += 1
            return ours.upload(uploads, large)
          }, download: ours.download(large))
        return [.p99: try bench.p99(of: probe, on: server, beside: crowd), .idleP99: idle]
      }
      let values: [String: Samples] = [
        ours.name: [.p99: results[ours]?[.p99] ?? []],
        Peer.idle.rawValue: [.p99: results[ours]?[.idleP99] ?? []],
      ]
      report.rows.append(
        Row(ours == .serve ? "\(work), snapshot serve" : work, .p99, ours: ours.name, values, [.of(.idle, 2)])
      )
    }
  }

  private var crowdName: String {
    let each = SlowCrowd.clientsOfAKind
    guard options.slow != SlowClient.Kind.allCases else {
      return "\(options.slow.count) × \(each) slow clients"
    }
    return options.slow.map { "\(each) slow clients (\($0))" }.joined(separator: ", ")
  }

  /// Measures the 99th percentile, after all slow clients have connected and acted once, or after earlier ones are
  /// gone.
  private func p99(of probe: Work, on server: Server, beside crowd: SlowCrowd? = nil) throws -> Double {
    crowd?.begin(at: Clock.now)
    _ = try server.run([probe], seconds: crowd == nil ? 0.5 : 1.2, beside: crowd)
    crowd?.begin(at: Clock.now)
    let load = try server.run([probe], seconds: 2.5 * effort.seconds, beside: crowd).loads[0]
    if let crowd {
      message("    \(crowd.summary)")
      let diligence = crowd.diligence(at: Clock.now)
      guard diligence > 0.95 else { throw Failure("the slow clients did only \(diligence) of their actions") }
    }
    return load.milliseconds(percentile: 0.99)
  }
}
