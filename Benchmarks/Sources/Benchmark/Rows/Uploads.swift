import Foundation

/// Uploads into files: without hashing or synchronizing by all contestants, and as shipped by `snapshot serve`, which
/// hashes, checks, synchronizes and indexes them.
extension Bench {
  mutating func measureUploads() throws {
    let servers = start([
      .engine, .engineOnLoop, .serve, .nginx, .nginxPush, .hummingbird, .flyingFox, .hummingbirdDurable,
    ])
    for (name, size, connections) in [
      ("100KB", 100_000, 16), ("1MB", 1_000_000, 16), ("100MB", 100_000_000, 4),
    ] {
      let bundle = try bundle(name, size)
      let work = "upload \(name), \(connections) connections"
      let (seconds, isLarge) = (effort.seconds, size >= 100_000_000)
      // At most about a gigabyte, so that the result does not depend on the disk.
      let limit = max(connections, 1_000_000_000 / size)
      let results = race(work, servers) { server in
        if server.contestant == .serve { try server.restart() }
        sync()
        let first = server.nextNumber
        let (loads, cpu) = try server.run(
          [Work(connections) { server.contestant.upload($0, bundle) }], seconds: seconds, limit: limit,
          isWarmedUp: false)
        if server.contestant != .serve {
          try Self.check(server, first..<server.nextNumber, bundle)
          // A file system can be slow at creating files after many were removed, so small ones are kept to the end.
          if size >= 1_000_000 { try server.clearUploads() }
        }
        return [
          .megabytesPerSecond: loads[0].bytesPerSecond / 1e6,
          .cpuPerGigabyte: cpu / Double(max(1, loads[0].bytes)) * 1e9,
          .generatorLoad: loads[0].generatorLoad,
        ]
      }
      add(
        "\(work), nothing hashed or synced", .megabytesPerSecond, ours: .engine, results,
        [.of(.nginx, 0.8), .of(.hummingbird, 0.85), .of(.flyingFox, 1.6)],
        limit: Self.handOverText(results))
      add("\(work), nothing hashed or synced", .cpuPerGigabyte, ours: .engine, results)
      // When the disk is slow, the engine waits for it too. Otherwise the digest makes the difference.
      let digest = Metric.cpuPerGigabyte.format(bundle.payload.digestSeconds / Double(size) * 1e9)
      let reason = "the digest takes \(digest) s of CPU for each GB, on the core that also receives it"
      add(
        "\(work), as shipped", .megabytesPerSecond, ours: .serve, results,
        isLarge ? [.of(.engine, 0.7), .of(.doingTheSame, 1)] : [.of(.doingTheSame, 1)],
        limit: isLarge ? reason : nil)
      add("\(work), as shipped", .cpuPerGigabyte, ours: .serve, results)
    }
  }

  /// What the change of threads costs that keeps the event loop free from the disk.
  private static func handOverText(_ results: [Contestant: Samples]) -> String? {
    let cpu = [Contestant.engine, .engineOnLoop].compactMap { results[$0]?[.cpuPerGigabyte]?.median }
    guard cpu.count == 2 else { return nil }
    let change = Metric.cpuPerGigabyte.format(cpu[0] - cpu[1])
    return "the disk's queue, which keeps the loop free, takes \(change) s of CPU for each GB"
  }

  /// Compares one of sixteen uploaded files byte for byte.
  private static func check(_ server: Server, _ numbers: Range<Int>, _ bundle: BundleFile) throws {
    for number in numbers where number % 16 == 0 {
      let data = try Data(
        contentsOf: URL(filePath: "\(server.folder)/uploads/\(number)"), options: .alwaysMapped)
      let isSame = data.withUnsafeBytes {
        $0.count == bundle.payload.count && bundle.payload.holds($0, at: 0)
      }
      guard isSame else { throw Failure("the uploaded file \(number) differs") }
    }
  }
}
