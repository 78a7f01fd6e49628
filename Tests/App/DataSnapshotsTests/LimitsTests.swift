import DataSnapshots
import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// The limits on recordings, and full disks.
struct LimitsTests {
  private var app: SampleApp

  init() throws { app = try SampleApp() }

  private func record(_ identifiers: [String], _ mode: SnapshotMode, count: Int = 10) async {
    for identifier in identifiers {
      _ = mode.process(data: Data(count: count), uniqueIdentifier: identifier)
      await mode.flush()
    }
  }

  @Test func `above the limit on all bytes, the oldest recordings are removed`() async throws {
    var app = app
    app.configuration.limits.totalBytes = 30
    let mode = app.launch()
    mode.state = .recording
    await record(["d", "b", "c"], mode)
    #expect(app.events.all.isEmpty)
    await record(["b"], mode)
    #expect(try app.names(in: "recordings") == ["b", "c", "d"])
    await record(["a"], mode)
    #expect(try app.names(in: "recordings") == ["a", "b", "c"])
    await record(["x"], mode, count: 30)
    #expect(try app.names(in: "recordings") == ["x"])
    #expect(app.events.kinds == [.recordingsRemoved, .recordingsRemoved])
    await record(["y"], mode, count: 31)
    #expect(try app.names(in: "recordings") == ["x"])
    #expect(app.events.kinds.last == .recordingRefused)
  }

  @Test func `a recording that redaction makes too long is rejected, and no other is removed for it`()
    async throws
  {
    var app = app
    app.configuration.limits.totalBytes = 30
    app.configuration.redaction = [
      .custom(named: "grows") { data, _ in data + Data(count: 21) }.only("grown")
    ]
    let mode = app.launch()
    mode.state = .recording
    await record(["a", "b", "grown"], mode)
    #expect(try app.names(in: "recordings") == ["a", "b"])
    #expect(app.events.kinds == [.recordingRefused])
    // With 30 bytes it uses the whole limit.
    await record(["grown"], mode, count: 9)
    #expect(try app.names(in: "recordings") == ["grown"])
  }

  @Test func `replacing a recording removes no other recording`() async throws {
    var app = app
    app.configuration.limits.recordings = 2
    let mode = app.launch()
    mode.state = .recording
    await record(["a", "b", "b"], mode)
    #expect(try app.names(in: "recordings") == ["a", "b"])
    #expect(app.events.all.isEmpty)
  }

  @Test func `calls of a history are removed one by one, together with the file of a long identifier`()
    async throws
  {
    var app = app
    app.configuration.limits.recordings = 3
    app.configuration.policy.retention = .history(limit: 10)
    let long = String(repeating: "long", count: 100)
    let mode = app.launch()
    mode.state = .recording
    await record([long, "a", "a", "a"], mode)
    #expect(try app.names(in: "recordings") == ["a@1", "a@2", "a@3"])
    #expect(try app.names(in: "identifiers") == [])
    await record(["b"], mode)
    #expect(try app.names(in: "recordings") == ["a@2", "a@3", "b@1"])
  }

  @Test func `a recording above the limit on one recording is not stored`() async {
    var app = app
    app.configuration.limits.recordingBytes = 10
    let mode = app.launch()
    mode.state = .recording
    for count in [9, 10, 11] { await record(["\(count)"], mode, count: count) }
    #expect(app.events.kinds == [.recordingRefused])
    #expect(await mode.report().unassigned == ["10", "9"])
  }

  @Test func `expired recordings are removed at launch and while recording`() async throws {
    var app = app
    let now = Now()
    app.configuration.clock = { now.date }
    app.configuration.limits.age = 60
    let mode = app.launch()
    mode.state = .recording
    await record(["a"], mode)
    now.advance(60)
    await record(["b"], mode)
    #expect(try app.names(in: "recordings") == ["a", "b"])
    now.advance(1)
    await record(["c"], mode)
    #expect(try app.names(in: "recordings") == ["b", "c"])
    now.advance(60)
    let next = app.launch()
    await next.flush()
    #expect(try app.names(in: "recordings") == ["c"])
    now.advance(1000)
    #expect(await next.report().recordingCount == 0)
  }

  @Test(arguments: [365, 4380] as [Double]) func `a clock that is ahead for a while removes no recording`(
    days: Double
  ) async throws {
    var app = app
    let now = Now()
    app.configuration.clock = { now.date }
    app.configuration.limits.age = 7 * 86_400
    let mode = app.launch()
    mode.state = .recording
    await record(["a"], mode)
    now.advance(days * 86_400)
    await record(["b"], mode)
    now.advance(3000)
    await app.launch().flush()
    #expect(try app.names(in: "recordings") == ["a", "b"])
    now.advance(-days * 86_400)
    await app.launch().flush()
    now.advance(days * 86_400)
    await app.launch().flush()
    #expect(try app.names(in: "recordings") == ["a", "b"])
  }

  @Test(arguments: [true, false])
  func `after a month without the app, recordings expire when the clock has moved on by an hour`(
    isLaunched: Bool
  ) async throws {
    var app = app
    let now = Now()
    app.configuration.clock = { now.date }
    app.configuration.limits.age = 7 * 86_400
    var mode = app.launch()
    mode.state = .recording
    await record(["a"], mode)
    now.advance(30 * 86_400)
    if isLaunched { mode = app.launch() }
    await record(["b"], mode)
    now.advance(3599)
    if isLaunched { mode = app.launch() }
    await record(["c"], mode)
    #expect(try app.names(in: "recordings") == ["a", "b", "c"])
    now.advance(1)
    if isLaunched { mode = app.launch() }
    await record(["d"], mode)
    #expect(try app.names(in: "recordings") == ["b", "c", "d"])
    // From now on the clock is believed.
    for _ in 0..<8 {
      now.advance(86_400)
      await record(["e"], mode)
    }
    #expect(try app.names(in: "recordings") == ["e"])
  }

  @Test func `lower limits apply at the next launch`() async throws {
    var app = app
    let now = Now()
    app.configuration.clock = { now.date }
    let mode = app.launch()
    mode.state = .recording
    for identifier in ["c", "a", "b"] {
      await record([identifier], mode)
      now.advance(1)
    }
    app.configuration.limits.totalBytes = 25
    await app.launch().flush()
    #expect(try app.names(in: "recordings") == ["a", "b"])
    app.configuration.limits.recordings = 1
    await app.launch().flush()
    #expect(try app.names(in: "recordings") == ["b"])
  }

  @Test func `on a full disk recording pauses with one event, and resumes when there is room`() async throws {
    let folder = app.storage.path
    await #expect(processExitsWith: .success) { [folder = folder as String] in
      signal(SIGXFSZ, SIG_IGN)
      let events = EventLog()
      var configuration = SnapshotMode.Configuration()
      configuration.onEvent = { events.append($0) }
      let mode = SnapshotMode(folder: URL(filePath: folder), configuration: configuration)
      mode.state = .recording
      _ = mode.process("before", "a")
      await mode.flush()
      // The maximum file size simulates a full disk.
      setLargestFile(1000)
      for round in 0..<5 {
        let live = Data(count: 5000 + round)
        #expect(mode.process(data: live, uniqueIdentifier: "b\(round)") == live)
        await mode.flush()
      }
      #expect(events.kinds == [.recordingPaused])
      #expect(await mode.report().isPaused)
      setLargestFile(1 << 30)
      _ = mode.process(data: Data(count: 5000), uniqueIdentifier: "c")
      await mode.flush()
      #expect(events.kinds == [.recordingPaused, .recordingResumed])
      #expect(events.all.last?.reason.contains("5 were not kept") == true)
      let report = await mode.report()
      #expect(!report.isPaused && report.unassigned == ["a", "c"])
      let names = try Folder.entries(folder)
      #expect(!names.contains { $0.hasSuffix(".staged") })
    }
  }
}

/// A clock that a test sets.
final class Now: Sendable {
  private let time = Lock(SampleApp.time)
  var date: Date { time.withLock { $0 } }
  func advance(_ seconds: TimeInterval) { time.withLock { $0 += seconds } }
}

/// Sets the maximum file size of this process in bytes.
func setLargestFile(_ bytes: Int) {
  var limit = rlimit()
  #if os(Linux)
    let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
  #else
    let resource = RLIMIT_FSIZE
  #endif
  getrlimit(resource, &limit)
  limit.rlim_cur = rlim_t(bytes)
  setrlimit(resource, &limit)
}
