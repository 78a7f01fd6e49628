import CAllocations
import DataSnapshots
import Foundation

/// What `SnapshotMode.process` costs the app, held against the same operation without it.
///
///     swift run -c release --package-path Benchmarks Overhead
///
/// Exits with 1 where a target is missed.
@main
struct Overhead {
  static func main() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "overhead-\(UUID().uuidString)")
    defer {
      do { try FileManager.default.removeItem(at: folder) } catch { print("left behind: \(error)") }
    }
    var verdict = Verdict()
    try disabled(folder.appending(path: "disabled"), &verdict)
    try recording(folder.appending(path: "recording"), &verdict)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    exit(verdict.isGood ? 0 : 1)
  }

  // MARK: - Disabled

  private static func disabled(_ folder: URL, _ verdict: inout Verdict) throws {
    let mode = SnapshotMode(folder: folder)
    mode.flush()
    let data = Data(repeating: 7, count: 100_000)
    let calls = 2_000_000
    var alone: [Double] = []
    var through: [Double] = []
    // A B A B, so that both see the same machine.
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

  private static func recording(_ folder: URL, _ verdict: inout Verdict) throws {
    for isSlow in [false, true] {
      var configuration = SnapshotMode.Configuration()
      configuration.waitingBytes = 1 << 30
      configuration.policy.retention = .history(limit: 10)
      if isSlow {
        // A disk that takes 50 ms for each recording, as far as the app can tell.
        configuration.redaction = [
          .custom(named: "slow disk") { data, _ in
            usleep(50_000)
            return data
          }
        ]
      }
      let mode = SnapshotMode(folder: folder.appending(path: "\(isSlow)"), configuration: configuration)
      mode.state = .recording
      mode.flush()
      let size = 100_000
      let calls = isSlow ? 100 : 2000
      var copies: [Double] = []
      var records: [Double] = []
      let target = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
      defer { target.deallocate() }
      for call in 0..<calls {
        let data = Data(repeating: UInt8(truncatingIfNeeded: call), count: size)
        data.withUnsafeBytes { bytes in
          copies.append(nanoseconds(1) { if let base = bytes.baseAddress { memcpy(target, base, size) } })
        }
        records.append(
          nanoseconds(1) {
            consume(mode.process(data: data, uniqueIdentifier: "news/feed"))
          })
      }
      let name = isSlow ? "recording 100 KB on a slow disk" : "recording 100 KB"
      print(
        "\(name): median \(records.median.short) ns, p99 \(records.percentile(99).short) ns; "
          + "memcpy median \(copies.median.short) ns")
      verdict.check("\(name), median ns", records.median, under: copies.median + 20_000)
      verdict.check("\(name), p99 ns", records.percentile(99), under: copies.percentile(99) + 20_000)
      mode.state = .disabled
      mode.flush()
    }
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

/// What was measured against what is wanted.
struct Verdict {
  private(set) var isGood = true

  mutating func check(_ name: String, _ value: Double, under target: Double) {
    let isMet = value < target
    if !isMet { isGood = false }
    print("  \(isMet ? "met   " : "MISSED") \(name): \(value.short), target under \(target.short)")
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
