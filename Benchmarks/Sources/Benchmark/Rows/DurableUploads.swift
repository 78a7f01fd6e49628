import Foundation

/// The effect of group commit: uploads per second and flushes per upload, by the number of clients.
extension Bench {
  mutating func measureDurableUploads() throws {
    let counter = try FlushCount("\(options.work)/flushes")
    let library = "\(options.tools.peers)/libFlushCounter.so"
    guard FileManager.default.fileExists(atPath: library) else { throw Failure("\(library) is missing") }
    let server = try start(
      .serve, environment: ["LD_PRELOAD": library, "FLUSH_COUNT": counter.path])
    let tiny = try bundle("tiny", 2_000)
    for (name, size, isNoise) in [
      ("100KB of images", 100_000, true), ("1MB of images", 1_000_000, true),
      ("100KB of JSON", 100_000, false), ("1MB of JSON", 1_000_000, false),
    ] {
      let bundle = try bundle(name, size, isNoise: isNoise)
      let least = try LeastWork(size: size, isNoise: isNoise, in: "\(options.work)/least")
      for clients in [1, 64] {
        let work = "durable uploads of \(name), \(clients) client\(clients > 1 ? "s" : "")"
        let seconds = effort.seconds
        let results = race(work, [server], rounds: min(3, effort.rounds)) { server in
          try server.restart()
          // The 256 folders of a new store are created, each with a flush of its own.
          let folders = Work(64) { server.contestant.upload($0, tiny) }
          _ = try server.run([folders], seconds: 60, limit: 2000, isWarmedUp: false)
          // A new server's first uploads are slower: it creates files, allocates buffers and touches its code.
          let uploads = Work(clients) { server.contestant.upload($0, bundle) }
          _ = try server.run([uploads], seconds: seconds, isWarmedUp: false)
          sync()
          let before = counter.value
          // Without a warm-up, whose flushes would be counted but not its uploads.
          let (loads, cpu) = try server.run([uploads], seconds: 3 * seconds, isWarmedUp: false)
          return [
            .requestsPerSecond: loads[0].exchangesPerSecond, .p99: loads[0].milliseconds(percentile: 0.99),
            .flushesPerUpload: Double(counter.value - before) / Double(max(1, loads[0].exchanges)),
            .cpuMilliseconds: cpu / Double(max(1, loads[0].exchanges)) * 1000,
          ]
        }
        let rate: [Int: Double] = size < 1_000_000 ? [1: 300, 64: 1000] : [:]
        // An upload needs three. The rest is for the flushes of the audit log and of the index, which uploads share.
        let flushes: [Int: Double] = [1: 3.1, 64: 0.5]
        add(
          work, .requestsPerSecond, ours: .serve, results, rate[clients].map { [.absolute($0)] } ?? [],
          limit: least.text)
        add(work, .flushesPerUpload, ours: .serve, results, flushes[clients].map { [.absolute($0)] } ?? [])
        add(work, .cpuMilliseconds, ours: .serve, results, limit: least.text)
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
