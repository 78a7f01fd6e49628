import DataSnapshots
import Foundation
import TestSupport
import Testing

/// What follows the last recorded call of an identifier.
struct AfterLastTests {
  private var app: SampleApp

  init() throws {
    app = try SampleApp()
    app.configuration.policy.retention = .history(limit: 5)
  }

  /// Records two calls of `feed` and one of `single`, and replays them with the policy.
  private func replay(_ policy: SnapshotMode.Policy) async throws -> SnapshotMode {
    let mode = app.launch()
    mode.state = .recording
    for text in ["1", "2"] { _ = mode.process(text, "feed") }
    _ = mode.process("1", "single")
    let zip = app.temporary.file("recorded.zip")
    _ = try await mode.makeSnapshot(to: zip)
    var other = app
    other.configuration.policy = policy
    let replaying = other.launch()
    try await replaying.activate(bundle: zip)
    return replaying
  }

  @Test func `the last recording is repeated`() async throws {
    let mode = try await replay(.init())
    #expect((0..<4).map { _ in mode.process("live", "feed") } == ["1", "2", "2", "2"])
    #expect(app.events.all.isEmpty)
  }

  @Test(arguments: ["feed", "single"]) func `a call behind the last one fails`(identifier: String)
    async throws
  {
    let count = identifier == "feed" ? 2 : 1
    let mode = try await replay(.init(afterLast: .fail))
    for _ in 0..<count { _ = try await mode.process(identifier) { () async throws -> Data in Data() } }
    await #expect(throws: SnapshotMode.MissingRecording.self) {
      try await mode.process(identifier) { () async throws -> Data in Data("live".utf8) }
    }
    #expect(mode.process("live", identifier) == "live")
    #expect(app.events.kinds == [.recordingMissing, .recordingMissing])
    let event = try #require(app.events.all.first)
    #expect(event.reason.contains(count == 2 ? "all its 2 recorded calls" : "its only recorded call"))
    #expect(await mode.report().misses.map(\.identifier) == [identifier])
    mode.rewind()
    #expect(mode.process("live", identifier) == "1")
  }

  @Test func `live data follows the last one, without an event`() async throws {
    let mode = try await replay(.init(afterLast: .live))
    #expect((0..<3).map { _ in mode.process("live", "feed") } == ["1", "2", "live"])
    #expect(mode.recorded("feed") == nil)
    #expect(app.events.all.isEmpty)
  }

  @Test func `the policy of an identifier overrides the standard one, also for own recordings`() async throws
  {
    var app = app
    app.configuration.policies["feed"] = .init(retention: .history(limit: 5), afterLast: .live)
    let mode = app.launch()
    mode.state = .recording
    for text in ["1", "2"] { _ = mode.process(text, "feed") }
    _ = mode.process("1", "other")
    mode.state = .replaying
    #expect((0..<3).map { _ in mode.process("live", "feed") } == ["1", "2", "live"])
    #expect((0..<2).map { _ in mode.process("live", "other") } == ["1", "1"])
  }

  @Test func `a recording of which only the latest call was kept is repeated`() async throws {
    var app = app
    app.configuration.policy = .init(afterLast: .fail)
    let mode = app.launch()
    mode.state = .recording
    for text in ["1", "2"] { _ = mode.process(text, "feed") }
    mode.state = .replaying
    #expect((0..<3).map { _ in mode.process("live", "feed") } == ["2", "2", "2"])
    #expect(app.events.all.isEmpty)
  }
}
