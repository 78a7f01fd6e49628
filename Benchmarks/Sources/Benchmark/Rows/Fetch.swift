import Foundation

/// Records and small bundles by `snapshot serve`, with its audit, against the engine alone: what the product costs.
extension Bench {
  mutating func measureFetch() throws {
    let servers = start([.engine, .engineAudited, .serve])
    let bundle = try bundle("100KB", 100_000)
    for server in servers { try bundle.publish(on: server) }
    for connections in [1, 64] {
      // The engine sends about as much from memory.
      try measure("record", connections, servers, [.of(.engine, 0.4)]) { server in
        .get(server == .serve ? "/v1/snapshots/\(bundle.id)" : "/small", expecting: nil)
      }
    }
    for connections in [1, 16] {
      try measure("bundle of 100 KB", connections, servers, [.of(.engine, 0.7)]) { $0.download(bundle) }
    }
  }

  /// Lists, a search and pages of `snapshot serve`, in a store of a thousand snapshots of fifty reports.
  mutating func measurePages() throws {
    let servers = start([.serve])
    let bundle = try bundle("tiny", 2_000)
    for server in servers {
      let uploads = Work(16) {
        .put(
          "/v1/reports/BENCH-\($0 % 50)/snapshots", bundle.payload, fields: bundle.digestField, method: "POST"
        )
      }
      _ = try server.run([uploads], seconds: 60, limit: 1000, isWarmedUp: false)
      try bundle.publish(on: server)
    }
    let paths = [
      ("list of 50", "/v1/snapshots?limit=50"), ("list of a report", "/v1/reports/BENCH-7/snapshots"),
      ("search for a word", "/v1/snapshots?text=BENCH-7&limit=20"),
      ("page of the newest", "/"), ("page of a report", "/reports/BENCH-7"),
      ("page of a snapshot", "/snapshots/\(bundle.id)"),
    ]
    for (name, path) in paths {
      for connections in [1, 16] {
        // A client that does not accept HTML gets a short text instead of the first page.
        let fields = path.hasPrefix("/v1") ? "" : "Accept: text/html\r\n"
        try measure(name, connections, servers, []) { _ in .get(path, fields: fields, expecting: nil) }
      }
    }
  }

  private mutating func measure(
    _ name: String, _ connections: Int, _ servers: [Server], _ targets: [Target],
    _ exchange: (Contestant) -> Exchange
  ) throws {
    let work = "\(name), \(connections) connection\(connections > 1 ? "s" : "")"
    let seconds = effort.seconds
    let results = race(work, servers) { server in
      // The audit log of many requests is written to the disk in the background, on the same core.
      sync()
      let (loads, cpu) = try server.run([Work(connections, exchange(server.contestant))], seconds: seconds)
      return [
        .requestsPerSecond: loads[0].exchangesPerSecond,
        .cpuMilliseconds: cpu / Double(max(1, loads[0].exchanges)) * 1000,
        .generatorLoad: loads[0].generatorLoad,
      ]
    }
    add(work, .requestsPerSecond, ours: .serve, results, targets, limit: auditText(results))
    add(work, .cpuMilliseconds, ours: .serve, results)
  }

  /// What is left of the engine's rate with the system calls that an audit requires.
  private func auditText(_ results: [Contestant: Samples]) -> String? {
    let rates = [Contestant.engine, .engineAudited].compactMap { results[$0]?[.requestsPerSecond]?.median }
    guard rates.count == 2 else { return nil }
    let ratio = Metric.seconds.format(rates[1] / rates[0])
    return "with the same look at files and the audit's line, the engine reaches \(ratio) of its rate"
  }
}
