import CBenchmark
import Foundation

/// The effect of group commit: uploads per second and flushes per upload, by the number of clients.
extension Bench {
  mutating func measureDurableUploads() throws {
    let counter = try FlushCount("\(options.work)/flushes")
    let library = "\(options.tools.peers)/libFlushCounter.so"
    guard FileManager.default.fileExists(atPath: library) else { throw Failure("\(library) is missing") }
    let server = try start(
      .serve, environment: ["LD_PRELOAD": library, "FLUSH_COUNT": counter.path])
    for (name, size, isNoise) in [
      ("100KB of images", 100_000, true), ("1MB of images", 1_000_000, true),
      ("100KB of JSON", 100_000, false), ("1MB of JSON", 1_000_000, false),
    ] {
      let bundle = try bundle(name, size, isNoise: isNoise)
      let least = try leastWork(size: size, isNoise: isNoise)
      // The clients together go first: they also create the folders that a new store lacks.
      for clients in [64, 1] {
        let work = "durable uploads of \(name), \(clients) client\(clients > 1 ? "s" : "")"
        let seconds = effort.seconds
        let results = race(work, [server], rounds: min(3, effort.rounds)) { server in
          if server.contestant == .serve { try server.restart() }
          // A new server's first uploads are slower: it creates files, allocates buffers and touches its code.
          let uploads = Work(clients) { server.contestant.upload($0, bundle) }
          _ = try server.run([uploads], seconds: seconds, isWarmedUp: false)
          sync()
          let before = counter.value
          let (loads, cpu) = try server.run([uploads], seconds: 3 * seconds)
          return [
            .requestsPerSecond: loads[0].exchangesPerSecond, .p99: loads[0].milliseconds(percentile: 0.99),
            .flushesPerUpload: Double(counter.value - before) / Double(max(1, loads[0].exchanges)),
            .cpuMilliseconds: cpu / Double(max(1, loads[0].exchanges)) * 1000,
          ]
        }
        let rate: [Int: Double] = size < 1_000_000 ? [1: 300, 64: 1000] : [:]
        // Three for each upload; all together share that of the audit log each second, and those of the index.
        let flushes: [Int: Double] = [1: 3.05, 64: 0.5]
        add(
          work, .requestsPerSecond, ours: .serve, results, rate[clients].map { [.absolute($0)] } ?? [],
          limit: least.text)
        add(work, .flushesPerUpload, ours: .serve, results, flushes[clients].map { [.absolute($0)] } ?? [])
        add(
          work, .cpuMilliseconds, ours: .serve, results, [.absolute(size < 1_000_000 ? 1.0 : 1.2)],
          limit: least.text)
      }
    }
  }
}

/// The processor time of what no server can leave out, in milliseconds.
private struct LeastWork {
  /// The digest of the bundle, and the inflating, CRC-32 and digest of the recordings that are checked before the
  /// response.
  var checking: Double
  /// The files, written by one thread that does nothing else.
  var storing: Double

  var text: String {
    let (checking, storing) = (
      Metric.milliseconds.format(checking), Metric.milliseconds.format(storing)
    )
    return
      "digests, inflating and CRC-32 take \(checking) ms each by themselves, writing and flushing \(storing) ms"
  }
}

extension Bench {
  private func leastWork(size: Int, isNoise: Bool) throws -> LeastWork {
    let bundle = Payload([UInt8](JSONText(seed: 1).makeNoise(size)))
    let recordings = isNoise ? bundle : Payload(JSONText(seed: 1).make(size * 37 / 10))
    // The server checks the recordings of larger bundles after the response (`UploadValidator.smallBundleBytes`).
    let isChecked = recordings.count <= 1280 << 10
    let (bytes, folder) = (recordings.bytes, "\(options.work)/least")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let checking = (0..<9).map { _ in
      let inflating =
        isNoise
        ? benchmark_checksum_seconds(bytes.baseAddress, bytes.count)
        : benchmark_inflate_seconds(bytes.baseAddress, bytes.count)
      return Self.digestSeconds(bundle) + (isChecked ? Self.digestSeconds(recordings) + inflating : 0)
    }
    let storing = (0..<9).map { _ in
      benchmark_store_seconds(folder, bundle.bytes.baseAddress, bundle.bytes.count)
    }
    guard storing.allSatisfy({ $0 > 0 }) else { throw Failure("\(folder): \(Failure.lastError)") }
    return LeastWork(checking: checking.median * 1000, storing: storing.median * 1000)
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
