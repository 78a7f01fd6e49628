import Foundation

/// Small requests during eight uploads of one megabyte.
extension Bench {
  mutating func measureMixedLoad() throws {
    let servers = start([.engine, .serve, .nginx, .nginxPush, .hummingbird])
    let answer = Payload([UInt8](repeating: UInt8(ascii: "x"), count: 1024))
    let bundle = try bundle("1MB", 1_000_000)
    let work = "small GET while 8 uploads of 1 MB run"
    let seconds = effort.seconds
    let results = race(work, servers) { server in
      if server.contestant == .serve { try server.restart() }
      sync()
      let small: Exchange =
        server.contestant == .serve ? .get("/healthz", expecting: nil) : .get("/small", expecting: answer)
      let (loads, _) = try server.run(
        [Work(8, small), Work(8) { server.contestant.upload($0, bundle) }], seconds: seconds,
        isWarmedUp: false)
      if server.contestant != .serve { try server.clearUploads() }
      return [
        .p99: loads[0].milliseconds(percentile: 0.99), .megabytesPerSecond: loads[1].bytesPerSecond / 1e6,
        .requestsPerSecond: loads[0].exchangesPerSecond,
      ]
    }
    for (ours, name) in [(Contestant.engine, work), (.serve, "\(work), snapshot serve")] {
      add(name, .p99, ours: ours, results, [.of(.nginx, 0.5), .of(.hummingbird, 0.5)])
      add("\(name): the uploads", .megabytesPerSecond, ours: ours, results)
    }
  }
}
