/// Requests for 1 KB from memory, over persistent connections.
extension Bench {
  mutating func measureSmallRequests() throws {
    let servers = start([.engine, .nginx, .nginxPush, .hummingbird, .flyingFox, .serve])
    let answer = Payload([UInt8](repeating: UInt8(ascii: "x"), count: 1024))
    let bundle = try bundle("100KB", 100_000)
    for server in servers where server.contestant == .serve { try bundle.publish(on: server) }
    for connections in [64, 1000] {
      let work = "small GET, \(connections) connections"
      let seconds = effort.seconds
      let results = race(work, servers) { server in
        // `snapshot serve` has no such resource. It reads a record of about the same length from the disk.
        let exchange: Exchange =
          server.contestant == .serve
          ? .get("/v1/snapshots/\(bundle.id)", expecting: nil) : .get("/small", expecting: answer)
        let (loads, cpu) = try server.run([Work(connections, exchange)], seconds: seconds)
        return [
          .requestsPerSecond: loads[0].exchangesPerSecond, .p99: loads[0].milliseconds(percentile: 0.99),
          .cpuPerThousand: cpu / Double(max(1, loads[0].exchanges)) * 1000,
          .generatorLoad: loads[0].generatorLoad,
        ]
      }
      add(
        work, .requestsPerSecond, ours: .engine, results,
        [.nginx: 1.0, .hummingbird: 3, .flyingFox: 12])
      add(work, .p99, ours: .engine, results, [.nginx: 0.5, .hummingbird: 0.5, .flyingFox: 0.1])
      add(work, .cpuPerThousand, ours: .engine, results)
      add("record by snapshot serve, \(connections) connections", .requestsPerSecond, ours: .serve, results)
    }
  }
}
