import Foundation

/// The memory of a server with a thousand idle clients, and its maximum during sixteen large uploads.
extension Bench {
  mutating func measureMemory() throws {
    let contestants: [Contestant] = [.engine, .serve, .nginx, .hummingbird, .flyingFox]
    let bundle = try bundle("100MB", 100_000_000)
    var results: [Contestant: Samples] = [:]
    var started: [Contestant: Double] = [:]
    for contestant in contestants {
      do {
        var server = try start(contestant)
        started[contestant] = Double(server.process.residentBytes) / 1e6
        let idle = try LoadGenerator(
          port: server.port, [Work(1000, .get(contestant.probe, expecting: nil))])
        _ = try idle.run(seconds: 0)
        let resident = Double(server.process.residentBytes) / 1e6
        server = try start(contestant)
        _ = try server.run(
          [Work(16) { contestant.upload($0, bundle) }], seconds: 0, isWarmedUp: false)
        results[contestant, default: [:]].add([
          .residentMegabytes: resident, .peakMegabytes: Double(server.process.peakResidentBytes) / 1e6,
        ])
        withExtendedLifetime(idle) {}
      } catch {
        fail("memory, \(contestant.name)", error)
      }
      sync()
    }
    let idle = [Target.of(.hummingbird, 0.4), .of(.flyingFox, 0.45)]
    let peak = [Target.of(.hummingbird, 0.4), .of(.flyingFox, 0.45)]
    for ours in [Contestant.engine, .serve] {
      let suffix = ours == .serve ? ", snapshot serve" : ""
      add(
        "1,000 idle connections\(suffix)", .residentMegabytes, ours: ours, results, idle,
        limit: started[ours].map {
          "\(Metric.residentMegabytes.format($0)) MB before the first of them, mostly code of the program"
        })
      let buffers = Metric.peakMegabytes.format(16 * 2 * 262_144 / 1e6)
      add(
        "16 uploads of 100 MB come in\(suffix)", .peakMegabytes, ours: ours, results, peak,
        limit: started[ours].map {
          "\(Metric.residentMegabytes.format($0)) MB before the first of them, and \(buffers) MB of buffers"
        })
    }
  }
}
