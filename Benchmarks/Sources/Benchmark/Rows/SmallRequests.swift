/// Requests for 1 KB from memory, over persistent connections.
extension Bench {
  mutating func measureSmallRequests() throws {
    let servers = start([.engine, .engineAtOnce, .nginx, .nginxPush, .hummingbird, .flyingFox])
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
      // As in the peers in Swift, the handler is an asynchronous function. Its task makes the difference to a response
      // that is there at once.
      add(
        work, .requestsPerSecond, ours: .engine, results,
        [.of(.nginx, 1.0), .of(.hummingbird, 3), .of(.flyingFox, 10)], limit: taskText(results))
      add(
        work, .p99, ours: .engine, results,
        [.of(.nginx, 1.0), .of(.hummingbird, 0.5), .of(.flyingFox, 0.15)])
      add(work, .cpuMilliseconds, ours: .engine, results)
      let atOnce = "\(work), answered at once"
      add(atOnce, .requestsPerSecond, ours: .engineAtOnce, results, [.of(.nginx, 1.0)])
      add(atOnce, .p99, ours: .engineAtOnce, results, [.of(.nginx, 1.0)])
      add(atOnce, .cpuMilliseconds, ours: .engineAtOnce, results)
    }
  }

  /// The processor time of the task that an asynchronous handler needs.
  private func taskText(_ results: [Contestant: Samples]) -> String? {
    let each = [Contestant.engine, .engineAtOnce].compactMap { results[$0]?[.cpuMilliseconds]?.median }
    guard each.count == 2 else { return nil }
    let task = Metric.milliseconds.format((each[0] - each[1]) * 1000)
    return "the task of the asynchronous handler takes \(task) µs of CPU, see the same answered at once"
  }
}
