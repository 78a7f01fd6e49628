import DataSnapshots
import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

struct HistoryTests {
  private var app: SampleApp

  init() throws {
    app = try SampleApp()
    app.configuration.policies["feed*"] = .init(retention: .history(limit: 3))
  }

  @Test func `calls are replayed in their order, and the last is repeated`() async {
    let mode = app.launch()
    mode.state = .recording
    for text in ["1", "2", "3"] { _ = mode.process(text, "feed") }
    _ = mode.process("1", "other")
    _ = mode.process("2", "other")
    _ = mode.process("", "empty")
    mode.state = .replaying
    #expect(mode.process("live", "empty").isEmpty)
    #expect((0..<5).map { _ in mode.process("live", "feed") } == ["1", "2", "3", "3", "3"])
    #expect(mode.process("live", "other") == "2")
    mode.rewind()
    #expect(mode.process("live", "feed") == "1")
    let report = await mode.report()
    #expect(report.recordingCount == 3 && report.callCount == 5)
    #expect(app.events.all.isEmpty)
  }

  @Test(arguments: [true, false]) func `if there are more calls than the limit, the first ones are removed`(
    isSlow: Bool
  )
    async throws
  {
    let mode = app.launch()
    mode.state = .recording
    for number in 1...7 {
      _ = mode.process("\(number)", "feed")
      if isSlow { await mode.flush() }
    }
    await mode.flush()
    #expect(try app.names(in: "recordings") == ["feed@5", "feed@6", "feed@7"])
    mode.state = .replaying
    #expect((0..<3).map { _ in mode.process("live", "feed") } == ["5", "6", "7"])
  }

  @Test func `a history continues in the next launch`() async throws {
    let mode = app.launch()
    mode.state = .recording
    for text in ["1", "2"] { _ = mode.process(text, "feed") }
    await mode.flush()
    let next = app.launch()
    for text in ["3", "4"] { _ = next.process(text, "feed") }
    next.state = .replaying
    #expect((0..<3).map { _ in next.process("live", "feed") } == ["2", "3", "4"])
  }

  @Test func `another app replays the history of a snapshot, whatever its own policy is`() async throws {
    let mode = app.launch()
    mode.state = .recording
    let identifier = "feed" + String(repeating: "/long", count: 100)
    for text in ["1", "2", "3", "4"] { _ = mode.process(text, identifier) }
    let zip = app.temporary.file("a.zip")
    let packed = try await mode.makeSnapshot(to: zip)
    #expect(packed.manifest.recordings.compactMap(\.call).sorted() == [2, 3, 4])
    #expect(Set(packed.manifest.recordings.map(\.identifier)) == [identifier])
    let other = try SampleApp()
    let replaying = other.launch()
    try await replaying.activate(bundle: zip)
    #expect((0..<4).map { _ in replaying.process("live", identifier) } == ["2", "3", "4", "4"])
    // A later launch starts from the beginning.
    #expect(other.launch().process("live", identifier) == "2")
    #expect(other.events.all.isEmpty)
  }

  @Test func `an identifier whose policy changes keeps its recordings in order`() async throws {
    var app = app
    app.configuration.policies = [:]
    let latest = app.launch()
    latest.state = .recording
    _ = latest.process("1", "feed")
    await latest.flush()
    app.configuration.policies["feed"] = .init(retention: .history(limit: 5))
    let history = app.launch()
    for text in ["2", "3"] { _ = history.process(text, "feed") }
    await history.flush()
    #expect(try app.names(in: "recordings") == ["feed", "feed@1", "feed@2"])
    history.state = .replaying
    #expect((0..<3).map { _ in history.process("live", "feed") } == ["1", "2", "3"])
    app.configuration.policies = [:]
    let again = app.launch()
    again.state = .recording
    _ = again.process("4", "feed")
    await again.flush()
    #expect(try app.names(in: "recordings") == ["feed"])
    again.state = .replaying
    #expect(again.process("live", "feed") == "4")
  }

  @Test func `concurrent calls with one identifier are all recorded, and each is replayed once`() async {
    var app = app
    app.configuration.policy.retention = .history(limit: 1000)
    let mode = app.launch()
    mode.state = .recording
    let texts = Set((0..<200).map { "\($0)" })
    await withTaskGroup(of: Void.self) { group in
      for text in texts { group.addTask { _ = mode.process(text, "a") } }
    }
    await mode.flush()
    mode.state = .replaying
    let replayed = await withTaskGroup(of: String.self) { group in
      for _ in texts { group.addTask { mode.process("live", "a") } }
      return await group.reduce(into: [String]()) { $0.append($1) }
    }
    #expect(replayed.count == texts.count && Set(replayed) == texts)
    #expect(app.events.all.isEmpty)
  }

  @Test func `names with a call's index can be parsed, others are rejected`() throws {
    let name = RecordingName(RecordingName("news/Feed"), call: 12)
    #expect(name.description == "news%2f^feed@12")
    #expect(RecordingName(fileName: name.description) == name)
    #expect(name.identifier == "news/Feed" && name.call == 12 && name.stem == "news%2f^feed")
    #expect(RecordingName(name, call: 13).description == "news%2f^feed@13")
    for text in ["a@", "a@0", "a@-1", "a@+1", "a@01", "a@1@2", "@1", "a@1000000000000", "a@x", "A@1"] {
      #expect(RecordingName(fileName: text) == nil, "\(text)")
    }
    #expect(RecordingName(fileName: "a@999999999999")?.call == RecordingName.maximumCall)
    #expect(RecordingName(RecordingName("a"), call: 0).call == 1)
  }

  @Test func `a manifest distinguishes the indices of calls`() throws {
    func recording(_ call: Int?, _ path: String) -> Manifest.Recording {
      .init(
        identifier: "a", path: "recordings/" + path, size: 0, sha256: .of(Data()), recordedAt: SampleApp.time,
        call: call)
    }
    func isAccepted(_ recordings: [Manifest.Recording]) -> Bool {
      let manifest = Manifest(
        id: SnapshotID(), createdAt: SampleApp.time, application: app.configuration.application,
        device: app.configuration.device, recordings: recordings)
      guard let json = try? manifest.json(), let read = try? Manifest(json: json) else { return false }
      return read == manifest
    }
    #expect(isAccepted([recording(nil, "a"), recording(1, "a@1"), recording(2, "a@2")]))
    #expect(!isAccepted([recording(1, "a@1"), recording(1, "a@2")]))
    #expect(!isAccepted([recording(nil, "a"), recording(nil, "b")]))
    #expect(!isAccepted([recording(0, "a")]))
    #expect(!isAccepted([recording(RecordingName.maximumCall + 1, "a")]))
  }
}
