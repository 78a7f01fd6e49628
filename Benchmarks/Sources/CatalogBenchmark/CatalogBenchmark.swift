import Foundation
import PostgreSQLStore
import PostgreSQLClient
import SQLiteCatalog
import SnapshotFormat
import SnapshotStore

/// Fills a catalogue with generated records and searches it. Measures the records indexed per second, the time for a
/// page, and the memory. Fails if a target is missed.
///
///     CatalogBenchmark [--records 1000000] [--folder DIR] [--json FILE] [--postgresql URI]
///
/// With a URI, the catalogue is in that PostgreSQL database, whose former catalogue is cleared.
@main
struct CatalogBenchmark {
  /// The targets for the number of records indexed per second. In SQLite, a rebuild is the same as any other change.
  static let wantedRate = (sqlite: 3000.0, postgreSQL: 8000.0)
  /// The target for the median time of a page, and of the counts per day, in milliseconds.
  static let wantedPage = 40.0
  static let pagesEach = 40

  struct Report: Encodable {
    var records = 0
    var recordsPerSecond = 0.0
    /// The processor time of all cores for a record. Other processes hardly affect it.
    var microsecondsOfCPU = 0.0
    var megabytesOnDisk = 0.0
    var residentMegabytes: [String: Double] = [:]
    /// Milliseconds for a page: median, 99th percentile.
    var pages: [String: [Double]] = [:]
    var totals: [String: Double] = [:]
    /// Milliseconds for the counts per day of the last year: median, 99th percentile.
    var days: [String: [Double]] = [:]
    /// Milliseconds of processor time of all cores for a page and for the counts per day. Other processes hardly affect
    /// it.
    var cpu: [String: [Double]] = [:]
  }

  static func main() async throws {
    var arguments = CommandLine.arguments.dropFirst()
    var (count, folder, json, uri) = (1_000_000, ".benchmark", String?.none, String?.none)
    while let word = arguments.popFirst(), let value = arguments.popFirst() {
      switch word {
      case "--records": count = Int(value) ?? count
      case "--folder": folder = value
      case "--json": json = value
      case "--postgresql": uri = value
      default: print("unknown option \(word)")
      }
    }
    folder += "/catalog-\(getpid())"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer {
      do { try FileManager.default.removeItem(atPath: folder) } catch {
        print("cannot remove the folder: \(error)")
      }
    }
    var report = Report()
    report.records = count
    if let uri {
      let catalog = try await PostgreSQLCatalog.open(PostgreSQLConfiguration(uri: uri))
      try await catalog.clear()
      try await fill(catalog, count, &report)
      try await search(catalog, count, &report)
      catalog.close()
    } else {
      let catalog = try await SQLiteCatalog.open(.init(path: folder + "/catalog.sqlite"))
      try await fill(catalog, count, &report)
      try await search(catalog, count, &report)
      await catalog.close()
      report.megabytesOnDisk = try size(folder + "/catalog.sqlite")
      print("\(report.megabytesOnDisk.rounded()) MB on disk; RSS in MB: \(report.residentMegabytes)")
    }
    if let json { try JSONEncoder().encode(report).write(to: URL(filePath: json)) }
    let slow = [report.pages, report.days].flatMap { $0.filter { $0.value[0] > wantedPage }.keys.sorted() }
    let isSlow = report.recordsPerSecond < (uri == nil ? wantedRate.sqlite : wantedRate.postgreSQL)
    if isSlow || !slow.isEmpty {
      print("missed: \(isSlow ? "indexing " : "")\(slow.joined(separator: ", "))")
      exit(1)
    }
  }

  /// Generates some thousand records at a time and indexes them. Only the indexing is measured. The order is that of a
  /// server that rebuilds its catalogue: by id, with each batch sorted by time. One batch is prepared while another is
  /// written.
  private static func fill(_ catalog: any Catalog, _ count: Int, _ report: inout Report) async throws {
    let generator = Generator()
    let order = generator.order(count)
    let (round, batch) = (8000, 2000)
    var time = Duration.zero
    var ticks = 0
    for start in stride(from: 0, to: count, by: round) {
      let end = min(start + round, count)
      let batches = try stride(from: start, to: end, by: batch).map { first in
        try order[first..<min(first + batch, end)].sorted().map { try generator.record(Int($0)) }
      }
      let before = clock()
      time += try await ContinuousClock().measure {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for (index, records) in batches.enumerated() {
            if index > 1 { try await group.next() }
            group.addTask { try await catalog.insert(records) }
          }
          try await group.waitForAll()
        }
      }
      ticks += clock() - before
      if end / 100_000 > start / 100_000 {
        report.residentMegabytes["\(end) records"] = resident()
        print("\(end) records: \(Int(Double(end) / time.seconds))/s, RSS \(resident()) MB")
      }
    }
    let before = clock()
    time += try await ContinuousClock().measure {
      try await catalog.complete(generation: try await catalog.state().generation)
    }
    ticks += clock() - before
    report.recordsPerSecond = Double(count) / time.seconds
    report.microsecondsOfCPU = Double(ticks) / Double(CLOCKS_PER_SEC) / Double(count) * 1e6
    print(
      "indexed \(count) records: \(Int(report.recordsPerSecond))/s, \(Int(report.microsecondsOfCPU)) µs of CPU each"
    )
  }

  private static func search(_ catalog: any Catalog, _ count: Int, _ report: inout Report) async throws {
    for (name, query) in try searches(count) {
      var times: [Double] = []
      var cursor: SnapshotStore.Cursor?
      var found = 0
      let ticks = clock()
      for _ in 0..<pagesEach {
        let start = ContinuousClock.now
        let page = try await catalog.page(query, PageRequest(limit: 100, cursor: cursor))
        _ = try SnapshotJSON.encode(page.records)
        times.append(start.duration(to: .now).seconds * 1000)
        found += page.records.count
        cursor = page.next
      }
      report.pages[name] = median(&times)
      let days = lastDay(count) - CatalogActivity.maximumDays + 1...lastDay(count)
      var dayTimes: [Double] = []
      let dayTicks = clock()
      for _ in 0..<pagesEach {
        let start = ContinuousClock.now
        _ = try await catalog.activity(query, days: days)
        dayTimes.append(start.duration(to: .now).seconds * 1000)
      }
      report.days[name + ", by days"] = median(&dayTimes)
      let cpu = [dayTicks - ticks, clock() - dayTicks].map {
        Double($0) / Double(CLOCKS_PER_SEC) * 1000 / Double(pagesEach)
      }
      report.cpu[name] = cpu
      let start = ContinuousClock.now
      let total = try await catalog.total(query)
      report.totals[name] = start.duration(to: .now).seconds * 1000
      let name = name.padding(toLength: 34, withPad: " ", startingAt: 0)
      print(
        String(
          format:
            "%@ %7.2f ms median (CPU %6.2f) %8.2f ms p99 %8.2f ms by days (CPU %6.2f) %8.2f ms for the total of %d%@",
          name, times[times.count / 2], cpu[0], times[times.count * 99 / 100], dayTimes[dayTimes.count / 2],
          cpu[1], start.duration(to: .now).seconds * 1000, total.count,
          total.isExact ? "" : " and more"))
    }
    report.residentMegabytes["searched"] = resident()
  }

  /// Sorts `times`, and returns the median and the 99th percentile.
  private static func median(_ times: inout [Double]) -> [Double] {
    times.sort()
    return [times[times.count / 2], times[times.count * 99 / 100]]
  }

  /// The day on which the last record is received.
  private static func lastDay(_ count: Int) -> Int { (1_700_000_000 + count * 40) / 86_400 }

  private static func searches(_ count: Int) throws -> [(String, CatalogQuery)] {
    let middle = Date(timeIntervalSince1970: 1_700_000_000 + Double(count) * 20)
    let changes: [(String, (inout CatalogQuery) throws -> Void)] = [
      ("everything", { _ in }),
      ("report", { $0.report = try ReportID(validating: "BUG-\(count / 6)") }),
      ("application", { $0.application = "com.example.app3" }),
      ("version range", { $0.versions = VersionRange(from: "1.3.4", through: "1.17.2") }),
      ("one version", { $0.versions = VersionRange("2.7.3") }),
      ("module", { $0.module = "Payments" }),
      ("identifier, common", { $0.identifier = "Payments/endpoint-7" }),
      ("identifier, rare", { $0.identifier = "Map/endpoint-7/item-777" }),
      ("device", { $0.device = "iPhone12,1" }),
      ("device, of all", { $0.device = "iOS" }),
      ("before the middle", { $0.before = middle }),
      ("text, one word", { $0.text = "refund" }),
      ("text, three words", { $0.text = "negative crash user" }),
      ("text, rare", { $0.text = "user 4711" }),
      ("two letters", { $0.text = "ne" }),
      ("three letters", { $0.text = "exa" }),
      ("beginning of a word of all", { $0.text = "exampl" }),
      ("beginnings of three words", { $0.text = "negat curre iphon" }),
      ("two digits", { $0.text = "12" }),
      ("four digits", { $0.text = "1234" }),
      ("beginning of a UUID", { $0.text = try String("\(Generator().record(count / 2).id)".prefix(8)) }),
      ("Japanese", { $0.text = "残高が" }),
      ("Japanese, one character", { $0.text = "高" }),
      ("device without its variant", { $0.device = "iPhone12" }),
      (
        "beginning of a word, by prefix",
        {
          $0.text = "balan"
          $0.scope = .init(reportPrefixes: ["BUG-"])
        }
      ),
      (
        "application, module, text",
        {
          $0.application = "com.example.app5"
          $0.module = "Chat"
          $0.text = "offline crash"
        }
      ),
      (
        "everything at once",
        {
          $0.application = "com.example.app5"
          $0.versions = VersionRange(from: "1.2", through: "3.4.1")
          $0.module = "Chat"
          $0.device = "iOS"
          $0.after = Date(timeIntervalSince1970: 1_700_000_000)
          $0.before = middle
          $0.text = "offline"
        }
      ),
      (
        "nothing in common",
        {
          $0.versions = VersionRange("1")
          $0.after = middle
          $0.text = "crash"
        }
      ),
      ("reports by prefix", { $0.scope = .init(reportPrefixes: ["BUG-"]) }),
    ]
    return try changes.map { name, change in
      var query = CatalogQuery()
      try change(&query)
      return (name, query)
    }
  }

  private static func size(_ path: String) throws -> Double {
    Double((try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0) / 1e6
  }

  /// The resident memory of this process in MB.
  private static func resident() -> Double {
    do {
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
      return (line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Double($0) } ?? 0) / 1000
    } catch {
      return .nan
    }
  }
}

extension Duration {
  fileprivate var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
