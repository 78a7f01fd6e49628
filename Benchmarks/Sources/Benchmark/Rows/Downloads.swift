/// Downloads of whole files; from `snapshot serve` through its API.
extension Bench {
  mutating func measureDownloads() throws {
    let servers = start([.engine, .serve, .nginx, .nginxPush, .hummingbird, .flyingFox])
    for (name, size) in [("100KB", 100_000), ("1MB", 1_000_000), ("100MB", 100_000_000)] {
      let bundle = try bundle(name, size)
      for server in servers { try bundle.publish(on: server) }
      for connections in [1, 16] {
        let work = "download \(name), \(connections) connection\(connections > 1 ? "s" : "")"
        let seconds = effort.seconds
        let results = race(work, servers) { server in
          let (loads, cpu) = try server.run(
            [Work(connections, server.contestant.download(bundle))], seconds: seconds)
          return [
            .megabytesPerSecond: loads[0].bytesPerSecond / 1e6,
            .cpuPerGigabyte: cpu / Double(max(1, loads[0].bytes)) * 1e9,
            .generatorLoad: loads[0].generatorLoad,
          ]
        }
        add(
          work, .megabytesPerSecond, ours: .engine, results,
          [.of(.nginx, 0.9), .of(.hummingbird, 1.7), .of(.flyingFox, 3)])
        add(work, .cpuPerGigabyte, ours: .engine, results)
        add(
          "\(work), snapshot serve", .megabytesPerSecond, ours: .serve, results,
          size < 1_000_000 ? [.of(.engine, 0.7)] : [.of(.nginx, 1.0)])
        add("\(work), snapshot serve", .cpuPerGigabyte, ours: .serve, results)
      }
    }
  }
}
