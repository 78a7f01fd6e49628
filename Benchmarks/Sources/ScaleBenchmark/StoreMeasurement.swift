import Foundation

/// Measures a server with a store of one size.
struct StoreMeasurement {
  let options: Options
  let maker: StoreMaker
  let storage: String
  private let size: Int

  init(_ options: Options, _ maker: StoreMaker, storage: String) {
    self.options = options
    self.maker = maker
    self.storage = storage
    size = maker.count
  }

  private func start() throws -> ServerProcess {
    try ServerProcess(options.snapshot, storage: storage, log: "\(options.work)/log")
  }

  /// Measures everything, and leaves as many bundles as it found.
  func run(_ curves: inout Curves) throws {
    // The bundles were added by hand, so the first start reads all of them.
    let first = try start()
    let seconds = try first.waitUntilReady()
    options.message("  \(size) bundles found and indexed in \(Curves.text(seconds)) s")
    try first.waitUntilIdle()
    try first.stop()
    try measureStarts(&curves)
    let server = try start()
    try server.waitUntilIdle()
    curves.add(.idleProcessor, server.processorSeconds, at: size)
    curves.add(.memory, server.residentBytes / 1e6, at: size)
    try measureRequests(server, &curves)
    try measureMaintenance(server, &curves)
    curves.add(.memoryPeak, server.peakResidentBytes / 1e6, at: size)
    try server.stop()
    try measureDisk(&curves)
    try measureCrash(&curves)
  }

  private func measureStarts(_ curves: inout Curves) throws {
    var (starts, processor, lists, stops): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
    for _ in 0..<options.starts {
      let server = try start()
      starts.append(server.secondsToStart)
      processor.append(server.processorSecondsToStart)
      let connection = try Connection(port: server.port)
      lists.append(try seconds { try connection.perform("GET", "/v1/snapshots?limit=20") })
      stops.append(try server.stop())
    }
    curves.add(.start, starts.median * 1000, at: size)
    curves.add(.startProcessor, processor.median * 1000, at: size)
    curves.add(.firstList, lists.median * 1000, at: size)
    curves.add(.stop, stops.median * 1000, at: size)
  }

  private func measureRequests(_ server: ServerProcess, _ curves: inout Curves) throws {
    let connection = try Connection(port: server.port)
    func measure(
      _ measure: Measure, cpu processor: Measure? = nil, _ count: Int, _ body: (Int) throws -> Void
    ) throws {
      let before = server.processorSeconds
      let times = try (0..<count).map { number in try seconds { try body(number) } }
      curves.add(measure, times.median * 1000, at: size)
      if let processor {
        curves.add(processor, (server.processorSeconds - before) / Double(count) * 1000, at: size)
      }
    }
    let known = (0..<options.requests).map { StoreMaker.id(1 + $0 * (size - 1) / options.requests) }
    let added = (0..<options.requests).map { _ in UUID().uuidString.lowercased() }
    try measure(.attach, cpu: .attachProcessor, added.count) { number in
      try connection.perform(
        "PUT", "/v1/reports/SCALE-\(number)/snapshots/\(added[number])",
        fields: "Content-Type: application/zip\r\n",
        body: maker.bundle, expecting: [201])
    }
    try measure(.record, known.count) { try connection.perform("GET", "/v1/snapshots/\(known[$0])") }
    try measure(.fetch, cpu: .fetchProcessor, known.count) {
      try connection.perform("GET", "/v1/snapshots/\(known[$0]).zip")
    }
    let middle = Date(timeIntervalSince1970: 1_750_000_000 + Double(size) * 4).formatted(.iso8601)
    for (measured, query) in [
      (Measure.list, ""), (.listMiddle, "&before=\(middle)"), (.search, "&text=balance"),
      (.searchRare, "&text=\(size / 6)"),
    ] {
      try measure(measured, options.requests) { _ in
        try connection.perform("GET", "/v1/snapshots?limit=100\(query)")
      }
    }
    try measure(.delete, cpu: .deleteProcessor, added.count) { number in
      try connection.perform("DELETE", "/v1/snapshots/\(added[number])", expecting: [204])
    }
  }

  private func measureMaintenance(_ server: ServerProcess, _ curves: inout Curves) throws {
    let connection = try Connection(port: server.port)
    var before = server.processorSeconds
    try connection.perform("GET", "/v1/expirations?limit=1")
    curves.add(.expire, server.processorSeconds - before, at: size)
    // Scrubbing has a limited rate, so only its beginning is measured.
    before = server.processorSeconds
    let begin = Clock.now
    try connection.perform("POST", "/v1/scrub", expecting: [202])
    var report = ""
    repeat {
      usleep(20_000)
      report = try connection.perform("GET", "/v1/scrub").text
    } while report.contains(#""running":true"#) && Clock.now - begin < 5
    let checked = ["intact", "setAside", "damaged", "unreadable"].reduce(0) {
      $0 + Self.number($1, in: report)
    }
    curves.add(.scrub, (server.processorSeconds - before) / Double(max(checked, 1)) * 1000, at: size)
  }

  private func measureCrash(_ curves: inout Curves) throws {
    let crashed = try start()
    // The note of the last clean stop is removed by the first change.
    try Connection(port: crashed.port).perform(
      "PUT", "/v1/reports/SCALE/snapshots/\(UUID().uuidString.lowercased())",
      fields: "Content-Type: application/zip\r\n", body: maker.bundle, expecting: [201])
    crashed.kill()
    let server = try start()
    curves.add(.crashStart, server.secondsToStart * 1000, at: size)
    curves.add(.crashReady, try server.waitUntilReady(), at: size)
    try server.waitUntilIdle()
    curves.add(.crashProcessor, server.processorSeconds, at: size)
    try server.stop()
  }

  /// Measures the space of the records and of all other files, apart from the bundles' own bytes.
  private func measureDisk(_ curves: inout Curves) throws {
    var bytes = 0
    func add(_ path: String) throws {
      var status = stat()
      guard lstat(path, &status) == 0 else { throw Failure("\(path): \(Failure.lastError)") }
      bytes += Int(status.st_blocks) * 512
    }
    // A sample of the shards, since their bundles are spread evenly.
    let shards = size < 100_000 ? 256 : 8
    for shard in 0..<shards {
      let folder = "\(storage)/bundles/\(String(shard + 256, radix: 16).suffix(2))"
      for name in try FileManager.default.contentsOfDirectory(atPath: folder) where !name.hasSuffix(".zip") {
        try add("\(folder)/\(name)")
      }
      try add(folder)
    }
    bytes = bytes * 256 / shards
    var catalog = 0
    for suffix in ["", "-wal"]
    where FileManager.default.fileExists(atPath: "\(storage)/catalog.sqlite\(suffix)") {
      catalog +=
        (try FileManager.default.attributesOfItem(atPath: "\(storage)/catalog.sqlite\(suffix)")[.size] as? Int)
        ?? 0
    }
    curves.add(.disk, Double(bytes + catalog) / Double(size), at: size)
    curves.add(.catalog, Double(catalog) / Double(size), at: size)
  }

  private static func number(_ key: String, in json: String) -> Int {
    guard let range = json.firstRange(of: "\"\(key)\":") else { return 0 }
    return Int(json[range.upperBound...].prefix { $0.isNumber }) ?? 0
  }

  private func seconds(_ body: () throws -> some Any) rethrows -> Double {
    let begin = Clock.now
    _ = try body()
    return Clock.now - begin
  }
}

extension [Double] {
  var median: Double {
    guard !isEmpty else { return .nan }
    let sorted = sorted()
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
  }
}
