import Foundation
import SystemIO

/// The command as a client of `snapshot serve`, against other programs that do the same with the same server.
extension Bench {
  mutating func measureClient() throws {
    let server = try start(.serve)
    try measureLargeBundle(server)
    try measureManyFiles(server)
  }

  /// Sends and fetches one bundle of noise. The command also computes its digest. What is fetched is synchronized by
  /// both.
  private mutating func measureLargeBundle(_ server: Server) throws {
    let bundle = try bundle("1GB", 1_000_000_000)
    let digest = bundle.payload.digestSeconds
    let reading = try Self.readSeconds(bundle.path)
    let (ours, theirs, log) = ("snapshot", Peer.curl.rawValue, "\(options.work)/client.log")
    var (sent, fetched) = ([String: Samples](), [String: Samples]())
    for _ in 0..<min(3, effort.rounds) {
      for name in [ours, theirs] {
        sync()
        let id = UUID().uuidString.lowercased()
        let upload =
          name == ours
          ? command(["upload", bundle.path, "--report", "BENCH-1", "--id", id], server)
          : curl(uploading: bundle.path, as: id, digestField: bundle.digestField, server)
        sent[name, default: [:]].add(try measure(upload, log))
        sync()
        let copy = "\(options.work)/fetched"
        let fetch =
          name == ours
          ? command(["fetch", id, "--output", copy], server) : curl(fetching: id, to: copy, server)
        fetched[name, default: [:]].add(try measure(fetch, log))
        try FileManager.default.removeItem(atPath: copy)
        _ = try ChildProcess.run(command(["delete", id], server), log: log)
      }
    }
    for (work, samples) in [("upload of 1 GB", sent), ("fetch of 1 GB, synchronized", fetched)] {
      var results = samples
      if let cpu = results[theirs]?[.cpuSeconds] {
        results[Peer.curlAndDigest.rawValue] = [.cpuSeconds: cpu.map { $0 + digest }]
      }
      // The digest is computed at the same time as the bytes are sent, from bytes that are read for it.
      let limit = """
        the digest takes \(Metric.seconds.format(digest)) s of CPU and reading the file for it \
        \(Metric.seconds.format(reading)) s, on the cores that the server uses, too
        """
      let sends = work.hasPrefix("upload")
      report.rows.append(
        Row(work, .seconds, ours: ours, results, [.of(.curl, 1.3)], limit: sends ? limit : nil))
      report.rows.append(
        Row(
          work, .cpuSeconds, ours: ours, results, [.of(.curlAndDigest, 1.3)], limit: sends ? limit : nil))
    }
  }

  /// The processor time of reading a file, in seconds.
  private static func readSeconds(_ path: String) throws -> Double {
    let file = try File(path)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 128 << 10, alignment: 16)
    defer { buffer.deallocate() }
    return try Clock.threadSeconds { () throws(SystemError) in
      var offset: Int64 = 0
      while case let count = try file.read(into: buffer, at: offset), count > 0 { offset += Int64(count) }
    }
  }

  /// Packs, sends, fetches and unpacks 10,000 files of JSON, 46 MB, as a snapshot's folder.
  private mutating func measureManyFiles(_ server: Server) throws {
    let (folder, log) = ("\(options.work)/many", "\(options.work)/client.log")
    let (plain, packed) = ("\(folder)-plain", "\(folder).zip")
    for group in 0..<100 {
      let path = "\(plain)/\(group)"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      for index in 0..<100 {
        let text = JSONText(seed: UInt64(group * 100 + index)).make(4600)
        try Data(text).write(to: URL(filePath: "\(path)/\(index).json"))
      }
    }
    _ = try ChildProcess.run(Launch(options.tools.snapshot, ["pack", plain, "--output", packed]), log: log)
    _ = try ChildProcess.run(Launch("unzip", ["-q", packed, "-d", folder]), log: log)
    try FileManager.default.removeItem(atPath: packed)
    let (ours, theirs) = ("snapshot", Peer.zipAndCurl.rawValue)
    var samples: [String: Samples] = [:]
    for round in 0..<min(3, effort.rounds) {
      for name in [ours, theirs] {
        sync()
        let id = UUID().uuidString.lowercased()
        let (copy, fetched) = ("\(folder)-\(name.prefix(3))-\(round)", "\(options.work)/fetched.zip")
        let launches =
          name == ours
          ? [
            command(["upload", folder, "--report", "BENCH-1", "--id", id], server),
            command(["fetch", id, "--into", copy], server),
          ]
          : [
            Launch("sh", ["-c", "cd '\(folder)' && zip -q -r '\(packed)' ."]),
            curl(uploading: packed, as: id, server), curl(fetching: id, to: fetched, server),
            Launch("unzip", ["-q", fetched, "-d", copy]),
          ]
        let times = try launches.map { try measure($0, log) }
        samples[name, default: [:]].add(times.reduce([:]) { $0.merging($1, uniquingKeysWith: +) })
        _ = try ChildProcess.run(command(["delete", id], server), log: log)
        for path in [packed, fetched] where FileManager.default.fileExists(atPath: path) {
          try FileManager.default.removeItem(atPath: path)
        }
      }
    }
    let work = "10,000 files packed, sent, fetched and unpacked"
    for metric in [Metric.seconds, .cpuSeconds] {
      report.rows.append(Row(work, metric, ours: ours, samples, [.of(.zipAndCurl, 1.3)]))
    }
  }

  private func measure(_ launch: Launch, _ log: String) throws -> [Metric: Double] {
    let (seconds, cpuSeconds) = try ChildProcess.measure(launch, log: log)
    return [.seconds: seconds, .cpuSeconds: cpuSeconds]
  }

  private func command(_ arguments: [String], _ server: Server) -> Launch {
    Launch(options.tools.snapshot, arguments, ["SNAPSHOT_SERVER": "http://127.0.0.1:\(server.port)"])
  }

  private func curl(
    uploading file: String, as id: String, digestField: String? = nil, _ server: Server
  ) -> Launch {
    let fields = ["Content-Type: application/zip"] + (digestField.map { [$0] } ?? [])
    let place = "http://127.0.0.1:\(server.port)/v1/reports/BENCH-1/snapshots/\(id)"
    return Launch(
      "curl",
      ["-sSf", "-o", "/dev/null", "-T", file]
        + fields.flatMap { ["-H", $0.trimmingCharacters(in: .newlines)] } + [place])
  }

  private func curl(fetching id: String, to file: String, _ server: Server) -> Launch {
    let place = "http://127.0.0.1:\(server.port)/v1/snapshots/\(id).zip"
    return Launch("sh", ["-c", "curl -sSf -o '\(file)' '\(place)' && sync '\(file)'"])
  }
}
