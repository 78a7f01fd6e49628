/// Requests for 1 KB from memory, over persistent connections.
extension Bench {
  mutating func measureSmallRequests() throws {
    let servers = start([.engine, .nginx, .nginxPush, .hummingbird, .flyingFox])
    let answer = Payload([UInt8](repeating: UInt8(ascii: "x"), count: 1024))
    measureNewConnections(
      "new connections", servers, ours: .engine, .get("/small", expecting: answer), [.of(.nginx, 1.0)])
    for connections in [64, 1000] {
      let work = "small GET, \(connections) connections"
      let seconds = effort.seconds
      let results = race(work, servers) { server in
        let (loads, cpu) = try server.run(
          [Work(connections, .get("/small", expecting: answer))], seconds: seconds)
        return [
          .requestsPerSecond: loads[0].exchangesPerSecond, .p99: loads[0].milliseconds(percentile: 0.99),
          .cpuMilliseconds: cpu / Double(max(1, loads[0].exchanges)) * 1000,
          .generatorLoad: loads[0].generatorLoad,
        ]
      }
      add(
        work, .requestsPerSecond, ours: .engine, results,
        [.of(.nginx, 0.9), .of(.hummingbird, 3), .of(.flyingFox, 10)])
      add(
        work, .p99, ours: .engine, results,
        [.of(.nginx, 1.2), .of(.hummingbird, 0.5), .of(.flyingFox, 0.15)])
      add(work, .cpuMilliseconds, ours: .engine, results)
    }
  }
}
