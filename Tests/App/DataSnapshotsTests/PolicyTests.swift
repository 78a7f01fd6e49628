import DataSnapshots
import Foundation
import SystemIO
import TestSupport
import Testing

/// Replacements for a missing recording, and the forms of `process` that skip work.
struct PolicyTests {
  private var app: SampleApp
  private let handled = EventLog()

  private struct Broken: Error {}
  private struct Feed: Codable, Equatable { var title: String }

  init() throws {
    app = try SampleApp()
    app.configuration.policies = [
      "must/*": .init(missing: .fail { [handled] in handled.append($0) }),
      "must/not": .init(missing: .passthrough),
      "empty": .init(missing: .emptyData),
    ]
  }

  @Test func `live data is used, nothing is returned, or a handler is called, as the policy specifies`() {
    let mode = app.launch()
    mode.state = .replaying
    #expect(mode.process("live", "any") == "live")
    #expect(mode.process("live", "empty").isEmpty)
    #expect(mode.process("live", "must/not") == "live")
    #expect(handled.all.isEmpty)
    #expect(mode.process("live", "must/have") == "live")
    #expect(handled.all.map(\.identifier) == ["must/have"])
    #expect(app.events.kinds == Array(repeating: .recordingMissing, count: 4))
  }

  @Test func `a policy applies to a recording that can't be read`() async throws {
    let mode = app.launch()
    try await mode.activate(bundle: try app.bundle("one", ["empty": "theirs"]))
    let folder = try #require(app.names(in: "snapshots").first)
    try app.temporary.write(Data(), to: "storage/snapshots/\(folder)/recordings/empty")
    #expect(mode.process("live", "empty").isEmpty)
    #expect(app.events.kinds == [.replayFailed])
  }

  @Test func `work is done and recorded, and skipped while replaying`() async throws {
    let mode = app.launch()
    let count = Lock(0)
    func work() async throws -> Data {
      count.add(1)
      await Task.yield()
      return Data("fetched".utf8)
    }
    #expect(try await mode.process("a") { try await work() } == Data("fetched".utf8))
    #expect(await mode.report().recordingCount == 0)
    mode.state = .recording
    #expect(try await mode.process("a") { try await work() } == Data("fetched".utf8))
    #expect(try mode.process("b") { Data("read".utf8) } == Data("read".utf8))
    #expect(count.value == 2)
    mode.state = .replaying
    #expect(try await mode.process("a") { () async throws in throw Broken() } == Data("fetched".utf8))
    #expect(try mode.process("b") { throw Broken() } == Data("read".utf8))
    #expect(app.events.all.isEmpty)
    #expect(try await mode.process("c") { try await work() } == Data("fetched".utf8))
    #expect(try await mode.process("empty") { () async throws in throw Broken() } == Data())
  }

  @Test func `an error of the work is rethrown and not recorded`() async {
    let mode = app.launch()
    for state in SnapshotMode.State.allCases {
      mode.state = state
      await #expect(throws: Broken.self) { try await mode.process("a") { () async throws in throw Broken() } }
      #expect(throws: Broken.self) { try mode.process("a") { throw Broken() } }
    }
    mode.state = .recording
    #expect(await mode.report().recordingCount == 0)
  }

  @Test func `a missing required recording throws an error, and the work is skipped`()
    async throws
  {
    let mode = app.launch()
    mode.state = .replaying
    let error = try await #require(throws: SnapshotMode.MissingRecording.self) {
      try await mode.process("must/have") { () async throws in throw Broken() }
    }
    #expect(error.event.identifier == "must/have")
    #expect(throws: SnapshotMode.MissingRecording.self) {
      try mode.process("must/have") { throw Broken() }
    }
    #expect(handled.all.count == 2)
  }

  @Test func `values are recorded as JSON, and decoded while replaying`() async throws {
    let mode = app.launch()
    let feed = Feed(title: "Today")
    #expect(try await mode.process("feed", as: Feed.self) { () async throws in feed } == feed)
    mode.state = .recording
    #expect(try await mode.process("feed", as: Feed.self) { () async throws in feed } == feed)
    #expect(try mode.process("plain", as: [Int].self) { [1, 2] } == [1, 2])
    await mode.flush()
    #expect(
      try Data(contentsOf: app.storage.appending(path: "recordings/feed")) == Data(#"{"title":"Today"}"#.utf8)
    )
    mode.state = .replaying
    #expect(try await mode.process("feed", as: Feed.self) { () async throws in throw Broken() } == feed)
    #expect(try mode.process("plain", as: [Int].self) { throw Broken() } == [1, 2])
    await #expect(throws: DecodingError.self) {
      try await mode.process("empty", as: Feed.self) { () async throws in feed }
    }
    #expect(throws: DecodingError.self) { try mode.process("plain", as: Feed.self) { feed } }
  }

  @Test func `a value that can't be encoded is returned, and the failure is reported`() throws {
    let mode = app.launch()
    mode.state = .recording
    #expect(try mode.process("a", as: Double.self) { .infinity } == .infinity)
    #expect(app.events.kinds == [.recordingRefused])
  }
}
