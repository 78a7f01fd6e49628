import DataSnapshots
import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// What was not recorded is in the snapshot, with the reason.
struct DroppedTests {
  private struct Unencodable: Codable {
    var number = Double.nan
  }

  private var app: SampleApp

  init() throws {
    app = try SampleApp()
    app.configuration.limits.recordingBytes = 100
    app.configuration.limits.recordings = 2
    app.configuration.waitingBytes = 80
    app.configuration.redaction =
      .usualSecrets + [.custom(named: "breaks") { _, _ in throw Broken() }.only("broken")]
  }

  private struct Broken: Error {}

  private func dropped(_ mode: SnapshotMode) async throws -> [Manifest.Dropped] {
    let zip = app.temporary.file("\(SnapshotID()).zip")
    let packed = try await mode.makeSnapshot(to: zip)
    #expect(try SnapshotBundle.validate(zip: zip, depth: .full).dropped == packed.manifest.dropped)
    return packed.manifest.dropped
  }

  @Test func `each reason is in the manifest and in the report, also after the next launch`() async throws {
    let mode = app.launch()
    mode.register(module: "News", files: ["large"])
    mode.state = .recording
    _ = mode.process("fine", "fine")
    _ = mode.process(data: Data(count: 101), uniqueIdentifier: "large")
    _ = mode.process(data: Data(count: 102), uniqueIdentifier: "large")
    _ = mode.process(data: Data(count: 81), uniqueIdentifier: "waits?email=anna@example.com")
    _ = mode.process(#"{"password":"#, "broken")
    _ = try mode.process("number", as: Unencodable.self) { Unencodable() }
    let expected: [Manifest.Dropped] = [
      .init(identifier: "large", reason: .tooLarge, count: 2, bytes: 203),
      .init(identifier: "waits?email=[redacted]", reason: .waiting, count: 1, bytes: 81),
      .init(identifier: "number", reason: .notEncoded, count: 1, bytes: 0),
      .init(identifier: "broken", reason: .notRedacted, count: 1, bytes: 12),
    ]
    #expect(Set(try await dropped(mode)) == Set(expected))
    let report = await mode.report().description
    #expect(report.contains("Dropped: large, 2 calls, 203 bytes: larger than a recording may be"))
    #expect(report.contains("Dropped: waits?email=[redacted], 81 bytes: too much waited for the disk"))
    let next = app.launch()
    #expect(Set(try await dropped(next)) == Set(expected))
    #expect(
      try await next.makeSnapshot(of: .previous, to: app.temporary.file("p.zip")).manifest.dropped.count == 4)
    try await next.clear()
    #expect(try await dropped(next) == [])
  }

  @Test func `what is recorded later is no longer listed`() async throws {
    let mode = app.launch()
    mode.state = .recording
    _ = mode.process(data: Data(count: 101), uniqueIdentifier: "a")
    _ = mode.process("fine", "a")
    #expect(try await dropped(mode) == [])
  }

  @Test func `recordings removed by a limit are listed`() async throws {
    let mode = app.launch()
    mode.state = .recording
    for identifier in ["a", "b", "c"] {
      _ = mode.process("1", identifier)
      await mode.flush()
    }
    #expect(try await dropped(mode) == [.init(identifier: "a", reason: .limit, count: 1, bytes: 1)])
  }

  @Test func `at most 500 are named, and the others are counted`() async throws {
    let mode = app.launch()
    mode.state = .recording
    for number in 0..<510 { _ = mode.process(data: Data(count: 101), uniqueIdentifier: "\(number)") }
    let all = try await dropped(mode)
    #expect(all.count == 501)
    #expect(all.last == .init(identifier: nil, reason: .tooLarge, count: 10, bytes: 1010))
    #expect(all.last?.description.hasPrefix("Dropped: others, 10 calls, 1 KB") == true)
  }
}
