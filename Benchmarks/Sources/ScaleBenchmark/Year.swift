import Foundation

/// What a year of 100,000 snapshots a day leaves behind that expire after 90 days: tombstones, ended uploads and the
/// audit log. A part is created, and the rest is computed from it.
struct Year {
  private static let daily = 100_000
  private static let (days, kept) = (365, 90)
  /// The number of resumable uploads: more than the server remembers.
  private static let uploads = 2_500

  private let options: Options
  private let maker: StoreMaker
  private let storage: String

  init(_ options: Options, _ maker: StoreMaker, storage: String) {
    self.options = options
    self.maker = maker
    self.storage = storage
  }

  private struct Costs {
    var start = 0.0
    var processor = 0.0
    var stop = 0.0
    var memory = 0.0
    var crashStart = 0.0
    var crashProcessor = 0.0
    var attach = 0.0
  }

  /// Measures a server before and after, and returns a table.
  func measure() throws -> String {
    options.message("a year …")
    let before = try costs()
    let uploadBytes = try endUploads()
    let afterUploads = try costs()
    let (tombstoneBytes, inodes) = try addTombstones()
    // The tombstones were added by hand, so this start reads all of them.
    let server = try start()
    try server.waitUntilReady()
    try server.stop()
    let after = try costs()
    let auditLine = try bytesOfAuditLine()

    var lines = [
      "A year of \(Self.daily) snapshots a day, kept for \(Self.kept) days, with \(maker.count) bundles:"
    ]
    lines.append(Self.row("", ["before", "\(Self.uploads) uploads", "\(options.tombstones) tombstones"]))
    for (name, key) in [
      ("start after a clean stop, ms", \Costs.start), ("start after a clean stop, CPU ms", \Costs.processor),
      ("stop, ms", \Costs.stop), ("memory, MB", \Costs.memory), ("start after a kill, ms", \Costs.crashStart),
      ("repaired after a kill, CPU s", \Costs.crashProcessor), ("attach, ms", \Costs.attach),
    ] {
      lines.append(Self.row(name, [before, afterUploads, after].map { Curves.text($0[keyPath: key]) }))
    }
    let deleted = Self.daily * (Self.days - Self.kept)
    lines += [
      "Tombstones: \(Curves.text(inodes)) inodes and \(Curves.text(tombstoneBytes)) bytes in folders each; after a year "
        + "\(deleted) of them: \(Curves.text(Double(deleted) * tombstoneBytes / 1e9)) GB in folders and \(deleted) inodes.",
      "Ended uploads: \(Curves.text(uploadBytes / 1e6)) MB in `uploads/`. The server remembers 2,000 at most.",
      "Audit log: \(Curves.text(auditLine)) bytes a line; \(Curves.text(auditLine * Double(Self.daily * 2) / 1e6)) MB a day "
        + "for uploads and expirations. 16 files of 64 MiB are kept: "
        + "\(Curves.text(16 * 67.108864e6 / (auditLine * Double(Self.daily * 2)))) days.",
    ]
    return lines.joined(separator: "\n")
  }

  private func start() throws -> ServerProcess {
    try ServerProcess(options.snapshot, storage: storage, log: "\(options.work)/log")
  }

  private func costs() throws -> Costs {
    var costs = Costs()
    var (starts, processor, stops): ([Double], [Double], [Double]) = ([], [], [])
    for _ in 0..<options.starts {
      let server = try start()
      starts.append(server.secondsToStart * 1000)
      processor.append(server.processorSecondsToStart * 1000)
      costs.memory = server.residentBytes / 1e6
      stops.append(try server.stop() * 1000)
    }
    (costs.start, costs.processor, costs.stop) = (starts.median, processor.median, stops.median)
    let crashed = try start()
    costs.attach = try attach(crashed) * 1000
    crashed.kill()
    let server = try start()
    costs.crashStart = server.secondsToStart * 1000
    try server.waitUntilReady()
    costs.crashProcessor = server.processorSeconds
    try server.stop()
    return costs
  }

  /// Attaches bundles, and returns the median time in seconds.
  private func attach(_ server: ServerProcess) throws -> Double {
    let connection = try Connection(port: server.port)
    var times: [Double] = []
    for _ in 0..<options.requests {
      let begin = Clock.now
      try connection.perform(
        "PUT", "/v1/reports/YEAR/snapshots/\(UUID().uuidString.lowercased())",
        fields: "Content-Type: application/zip\r\n", body: maker.bundle, expecting: [201])
      times.append(Clock.now - begin)
    }
    return times.median
  }

  /// Completes resumable uploads, and returns the bytes that remain of them.
  private func endUploads() throws -> Double {
    let server = try start()
    let connection = try Connection(port: server.port)
    let report = Data("YEAR".utf8).base64EncodedString()
    for _ in 0..<Self.uploads {
      let id = Data(UUID().uuidString.lowercased().utf8).base64EncodedString()
      try connection.perform(
        "POST", "/v1/uploads",
        fields: "Tus-Resumable: 1.0.0\r\nUpload-Length: \(maker.bundle.count)\r\n"
          + "Upload-Metadata: report \(report),id \(id)\r\nContent-Type: application/offset+octet-stream\r\n",
        body: maker.bundle, expecting: [201])
    }
    try server.stop()
    let names = try FileManager.default.contentsOfDirectory(atPath: "\(storage)/uploads")
    return try names.reduce(0) { sum, name in
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(storage)/uploads/\(name)")
      return sum + Double(attributes[.size] as? Int ?? 0)
    }
  }

  /// Creates tombstones, and returns the bytes in folders and the inodes of each.
  private func addTombstones() throws -> (bytes: Double, inodes: Double) {
    let before = (try folderBytes(), try inodes())
    for number in 0..<options.tombstones {
      let id = StoreMaker.id(1_000_000_000 + number)
      let path = "\(storage)/bundles/\(id.prefix(2))/\(id).deleted"
      let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw Failure("\(path): \(Failure.lastError)") }
      close(descriptor)
    }
    let count = Double(options.tombstones)
    return ((try folderBytes() - before.0) / count, (try inodes() - before.1) / count)
  }

  private func folderBytes() throws -> Double {
    try FileManager.default.contentsOfDirectory(atPath: "\(storage)/bundles").reduce(0) { sum, name in
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(storage)/bundles/\(name)")
      return sum + Double(attributes[.size] as? Int ?? 0)
    }
  }

  private func inodes() throws -> Double {
    var status = statvfs()
    guard statvfs(storage, &status) == 0 else { throw Failure("statvfs: \(Failure.lastError)") }
    return Double(status.f_files - status.f_ffree)
  }

  private func bytesOfAuditLine() throws -> Double {
    let log = try Data(contentsOf: URL(filePath: "\(storage)/audit.log"))
    let lines = log.split(separator: UInt8(ascii: "\n")).filter { line in
      String(decoding: line, as: UTF8.self).contains(#""YEAR""#)
    }
    return lines.isEmpty ? .nan : Double(lines.reduce(0) { $0 + $1.count + 1 }) / Double(lines.count)
  }

  private static func row(_ name: String, _ cells: [String]) -> String {
    let name = name + String(repeating: " ", count: max(1, 34 - name.count))
    return "  " + name + cells.map { String(repeating: " ", count: max(1, 20 - $0.count)) + $0 }.joined()
  }
}
