import Foundation

/// The effect of group commit: uploads per second and flushes per upload, by the number of clients.
extension Bench {
  mutating func measureDurableUploads() throws {
    let counter = try FlushCount("\(options.work)/flushes")
    let library = "\(options.tools.peers)/libFlushCounter.so"
    guard FileManager.default.fileExists(atPath: library) else { throw Failure("\(library) is missing") }
    let server = try start(
      .serve, environment: ["LD_PRELOAD": library, "FLUSH_COUNT": counter.path])
    for (name, size) in [("100KB", 100_000), ("1MB", 1_000_000)] {
      let bundle = try bundle(name, size)
      for clients in [1, 4, 16, 64] {
        let work = "durable uploads of \(name), \(clients) client\(clients > 1 ? "s" : "")"
        let seconds = effort.seconds
        let results = race(work, [server], rounds: min(3, effort.rounds)) { server in
          if server.contestant == .serve { try server.restart() }
          sync()
          let before = counter.value
          let (loads, cpu) = try server.run(
            [Work(clients) { server.contestant.upload($0, bundle) }], seconds: seconds, isWarmedUp: false)
          return [
            .requestsPerSecond: loads[0].exchangesPerSecond, .p99: loads[0].milliseconds(percentile: 0.99),
            .flushesPerUpload: Double(counter.value - before) / Double(max(1, loads[0].exchanges)),
            .cpuPerThousand: cpu / Double(max(1, loads[0].exchanges)) * 1000,
          ]
        }
        for metric in [Metric.requestsPerSecond, .flushesPerUpload] {
          add(work, metric, ours: .serve, results)
        }
      }
    }
  }
}

/// A counter of eight bytes in memory shared with the library that counts.
final class FlushCount {
  let path: String
  private let memory: UnsafeMutablePointer<Int>

  init(_ path: String) throws {
    self.path = path
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0, ftruncate(descriptor, 8) == 0,
      let memory = mmap(nil, 8, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), memory != MAP_FAILED
    else { throw Failure("\(path): \(Failure.lastError)") }
    close(descriptor)
    self.memory = memory.assumingMemoryBound(to: Int.self)
  }

  deinit { munmap(memory, 8) }

  var value: Int { memory.pointee }
}
