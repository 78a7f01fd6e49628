import CAllocations
import DataSnapshots
import Foundation
import Synchronization

/// Compares an operation with and without `SnapshotMode.process`, to measure its cost for the app.
///
///     swift run -c release --package-path Benchmarks Overhead
///
/// Exits with status 1 if a target is missed.
@main
struct Overhead {
  static func main() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "overhead-\(UUID().uuidString)")
    defer {
      do { try FileManager.default.removeItem(at: folder) } catch {
        print("cannot remove the folder: \(error)")
      }
    }
    var verdict = Verdict()
    try disabled(folder.appending(path: "disabled"), &verdict)
    try recording(folder.appending(path: "recording"), &verdict)
    redacting(folder.appending(path: "redacting"), &verdict)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    exit(verdict.isGood ? 0 : 1)
  }

  // MARK: - Disabled

  private static func disabled(_ folder: URL, _ verdict: inout Verdict) throws {
    let mode = SnapshotMode(folder: folder)
    mode.flushSynchronously()
    let data = Data(repeating: 7, count: 100_000)
    let calls = 2_000_000
    var alone: [Double] = []
    var through: [Double] = []
    // A B A B, so that both run under the same conditions.
    for _ in 0..<9 {
      alone.append(nanoseconds(calls) { consume(operation(data)) })
      through.append(
        nanoseconds(calls) {
          consume(mode.process(data: operation(data), uniqueIdentifier: "news/feed"))
        })
    }
    let before = allocation_count()
    for _ in 0..<1000 { consume(mode.process(data: operation(data), uniqueIdentifier: "news/feed")) }
    let allocations = allocation_count() - before
    let cost = through.median - alone.median
    print("disabled: \(alone.median.short) ns alone, \(through.median.short) ns through process")
    verdict.check("disabled, ns a call", cost, under: 50)
    verdict.check("disabled, allocations in 1000 calls", Double(allocations), under: 1)
  }

  // MARK: - Recording

  private static let size = 100_000
  /// Each recording is kept, so that their number can be checked: 100 MB on the disk, in each of two runs.
  private static let calls = 1000

  private static func recording(_ folder: URL, _ verdict: inout Verdict) throws {
    for isStill in [false, true] {
      let name = isStill ? "recording 100 KB while the disk stands still" : "recording 100 KB"
      let storage = folder.appending(path: "\(isStill)")
      let (gate, events) = (Gate(isOpen: !isStill), Events())
      var configuration = SnapshotMode.Configuration()
      configuration.waitingBytes = 1 << 30
      configuration.policy.retention = .history(limit: calls)
      configuration.onEvent = { events.append($0) }
      // Runs before the file is written: nothing reaches the disk while the gate is closed.
      configuration.redaction = [
        .custom(named: "gate") { data, _ in
          gate.wait()
          return data
        }
      ]
      let mode = SnapshotMode(folder: storage, configuration: configuration)
      mode.state = .recording
      mode.flushSynchronously()
      let (copies, records) = time(mode)
      gate.open()
      mode.flushSynchronously()
      print(
        "\(name): median \(records.median.short) ns, p99 \(records.percentile(99).short) ns; "
          + "memcpy median \(copies.median.short) ns")
      verdict.check("\(name), median ns", records.median, under: copies.median + 20_000)
      verdict.check("\(name), p99 ns", records.percentile(99), under: copies.percentile(99) + 20_000)
      verdict.demand("\(name), what was timed is stored", try problem(in: storage, events))
      try FileManager.default.removeItem(at: storage)
    }
  }

  /// Returns the duration of each call, and of copying the same bytes once.
  private static func time(_ mode: SnapshotMode) -> (copies: [Double], records: [Double]) {
    let target = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    defer { target.deallocate() }
    var (copies, records): ([Double], [Double]) = ([], [])
    for call in 0..<calls {
      let data = Data(repeating: UInt8(truncatingIfNeeded: call), count: size)
      data.withUnsafeBytes { bytes in
        copies.append(nanoseconds(1) { if let base = bytes.baseAddress { memcpy(target, base, size) } })
      }
      records.append(nanoseconds(1) { consume(mode.process(data: data, uniqueIdentifier: "news/feed")) })
    }
    return (copies, records)
  }

  /// Describes an error in the contents of the folder: it must contain the bytes of every call, and nothing else.
  private static func problem(in storage: URL, _ events: Events) throws -> String? {
    if let event = events.all.first { return "\(events.all.count) events, the first: \(event)" }
    let recordings = storage.appending(path: "recordings")
    let files = try FileManager.default.contentsOfDirectory(at: recordings, includingPropertiesForKeys: nil)
    var (bytes, values) = (0, [UInt8: Int]())
    for file in files {
      let data = try Data(contentsOf: file)
      bytes += data.count
      guard let first = data.first, data.allSatisfy({ $0 == first }) else { return "\(file.path) is damaged" }
      values[first, default: 0] += 1
    }
    let wanted = Dictionary(grouping: 0..<calls) { UInt8(truncatingIfNeeded: $0) }.mapValues(\.count)
    guard bytes == calls * size, values == wanted else {
      return "\(files.count) files with \(bytes) bytes, where \(calls) with \(calls * size) were passed"
    }
    return nil
  }

  // MARK: - Redacting

  /// Compares how long JSON takes until it is in its file, with and without rules.
  private static func redacting(_ folder: URL, _ verdict: inout Verdict) {
    let data = feed()
    var configuration = SnapshotMode.Configuration()
    let plain = SnapshotMode(folder: folder.appending(path: "plain"), configuration: configuration)
    configuration.redaction = .usualSecrets
    let redacting = SnapshotMode(folder: folder.appending(path: "rules"), configuration: configuration)
    var times: [[Double]] = [[], []]
    for round in 0..<200 {
      // A B A B, so that both run under the same conditions.
      for (kind, mode) in [plain, redacting].enumerated() {
        mode.state = .recording
        times[kind].append(
          nanoseconds(1) {
            consume(mode.process(data: data, uniqueIdentifier: "news/\(round % 20)"))
            mode.flushSynchronously()
          })
      }
    }
    let ratio = times[1].median / times[0].median
    print(
      "recording \(data.count) bytes of JSON: \((times[0].median / 1000).short) µs without rules, "
        + "\((times[1].median / 1000).short) µs with usualSecrets")
    verdict.check("recording JSON with usualSecrets, of the time without rules", ratio, under: 2.5)
  }

  /// A feed of some 100 KB with a few secrets.
  private static func feed() -> Data {
    let articles = (0..<330).map { number in
      """
      {"id":\(number),"title":"Article \(number) of the feed","url":"https://example.com/articles/\(number)?from=feed",\
      "published":"2026-03-01T12:00:00Z","author":{"name":"Anna Berger","profile":"/people/\(number % 7)"},\
      "tags":["news","weather"],"score":\(number).25,"text":"Some words of the article, which go on for a while."}
      """
    }
    let session = #"{"user":"anna","access_token":"0123456789abcdef","expires":3600}"#
    return Data(#"{"session":\#(session),"articles":[\#(articles.joined(separator: ","))]}"#.utf8)
  }

  // MARK: - Measuring

  @inline(never)
  private static func operation(_ data: Data) -> Data { data }

  @inline(never)
  @_optimize(none)
  private static func consume(_ data: Data) {}

  private static func nanoseconds(_ calls: Int, _ body: () -> Void) -> Double {
    let start = DispatchTime.now().uptimeNanoseconds
    for _ in 0..<calls { body() }
    return Double(DispatchTime.now().uptimeNanoseconds - start) / Double(calls)
  }
}

/// Blocks all callers until it is opened.
final class Gate: Sendable {
  private let isOpen: Mutex<Bool>
  private let semaphore = DispatchSemaphore(value: 0)

  init(isOpen: Bool) { self.isOpen = Mutex(isOpen) }

  func open() {
    isOpen.withLock { $0 = true }
    semaphore.signal()
  }

  func wait() {
    guard !isOpen.withLock({ $0 }) else { return }
    semaphore.wait()
    semaphore.signal()
  }
}

/// Collects the mode's events.
final class Events: Sendable {
  private let events = Mutex<[SnapshotMode.Event]>([])
  var all: [SnapshotMode.Event] { events.withLock { $0 } }
  func append(_ event: SnapshotMode.Event) { events.withLock { $0.append(event) } }
}

/// The comparison of the results with the targets.
struct Verdict {
  private(set) var isGood = true

  mutating func check(_ name: String, _ value: Double, under target: Double) {
    let isMet = value < target
    if !isMet { isGood = false }
    print("  \(isMet ? "met   " : "MISSED") \(name): \(value.short), target under \(target.short)")
  }

  mutating func demand(_ name: String, _ problem: String?) {
    if problem != nil { isGood = false }
    print("  \(problem == nil ? "met   " : "MISSED") \(name)\(problem.map { ": " + $0 } ?? "")")
  }
}

extension Double {
  var short: String {
    String(Int((self * 10).rounded()) / 10) + "." + String(abs(Int((self * 10).rounded()) % 10))
  }
}

extension [Double] {
  var median: Double { percentile(50) }

  func percentile(_ percent: Int) -> Double {
    let sorted = sorted()
    return sorted[Swift.min(sorted.count * percent / 100, sorted.count - 1)]
  }
}
