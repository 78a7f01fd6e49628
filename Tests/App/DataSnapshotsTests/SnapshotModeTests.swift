import DataSnapshots
import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

struct SnapshotModeTests {
  private let app: SampleApp

  init() throws { app = try SampleApp() }

  @Test func `a new app is disabled, returns live data and records nothing`() async throws {
    let mode = app.launch()
    #expect(mode.state == .disabled)
    #expect(mode.process("live", "a") == "live")
    await mode.flush()
    #expect(try !Folder.exists(app.storage.path))
    #expect(app.events.all.isEmpty)
  }

  @Test func `recordings are replayed byte for byte`() async {
    let mode = app.launch()
    let bytes = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    mode.state = .recording
    #expect(mode.process(data: bytes, uniqueIdentifier: "a") == bytes)
    #expect(mode.process(data: Data(), uniqueIdentifier: "empty") == Data())
    await mode.flush()
    mode.state = .replaying
    #expect(mode.process(data: Data("live".utf8), uniqueIdentifier: "a") == bytes)
    #expect(mode.process(data: Data("live".utf8), uniqueIdentifier: "empty") == Data())
    #expect(app.events.all.isEmpty)
  }

  @Test func `synchronous code can wait for the disk as well`() {
    let mode = app.launch()
    mode.state = .recording
    _ = mode.process("recorded", "a")
    mode.flushSynchronously()
    #expect(Folder.isRegularFile(app.storage.path + "/recordings/a"))
  }

  @Test func `data that is not on disk yet is replayed too`() {
    let mode = app.launch()
    for round in 0..<200 {
      mode.state = .recording
      _ = mode.process("\(round)", "a")
      mode.state = .replaying
      #expect(mode.process("live", "a") == "\(round)")
    }
    #expect(app.events.all.isEmpty)
  }

  @Test func `only the bytes of a data slice are recorded`() async {
    let mode = app.launch()
    mode.state = .recording
    _ = mode.process(data: Data("0123456789".utf8)[3..<6], uniqueIdentifier: "a")
    await mode.flush()
    mode.state = .replaying
    #expect(mode.process("live", "a") == "345")
  }

  @Test func `the latest call wins`() async {
    let mode = app.launch()
    mode.state = .recording
    for text in ["1", "22", "333", "4"] {
      _ = mode.process(text, "a")
      await mode.flush()
    }
    _ = mode.process("5", "a")
    _ = mode.process("6", "a")
    await mode.flush()
    mode.state = .replaying
    #expect(mode.process("live", "a") == "6")
  }

  @Test func `an identifier without a recording gets live data, and that is reported`() {
    let mode = app.launch()
    mode.state = .replaying
    #expect(mode.process("live", "a") == "live")
    #expect(app.events.all.map(\.kind) == [.recordingMissing])
    #expect(app.events.all.first?.identifier == "a")
    #expect(app.events.all.first?.description.contains("‘a’") == true)
  }

  @Test(arguments: SnapshotMode.State.allCases)
  func `the state is that of the last launch`(state: SnapshotMode.State) async {
    let mode = app.launch()
    mode.state = .recording
    mode.state = state
    await mode.flush()
    #expect(app.launch().state == state)
    #expect(app.events.all.isEmpty)
  }

  @Test func `recordings are those of the last launch`() async {
    let mode = app.launch()
    mode.state = .recording
    _ = mode.process("recorded", "a")
    await mode.flush()
    let next = app.launch()
    next.state = .replaying
    #expect(next.process("live", "a") == "recorded")
  }

  @Test func `a state that can't be read is reported, and the app continues disabled`() throws {
    for json in ["", "{", #"{"state":"dreaming"}"#, #"{"state":"replaying","active":"../../x"}"#] {
      try app.temporary.write(Data(json.utf8), to: "storage/mode.json")
      #expect(app.launch().state == .disabled)
    }
    #expect(app.events.kinds == Array(repeating: .stateNotRestored, count: 4))
  }

  @Test func `a state with a missing snapshot is reported`() throws {
    let json = #"{"state":"replaying","active":"\#(SnapshotID())"}"#
    try app.temporary.write(Data(json.utf8), to: "storage/mode.json")
    #expect(app.launch().process("live", "a") == "live")
    #expect(app.events.kinds == [.stateNotRestored])
  }

  @Test func `hostile identifiers are kept apart and are in the snapshot`() async throws {
    let long = String(repeating: "long/", count: 820)
    let identifiers = [
      "", " ", ".", "..", "../x", "../../mode.json", "/etc/passwd", "CON", "con", "nul.txt", "a", "A", "a.",
      "a ", "A.",
      "%", "%61", "^a", "x\0y", "x\ny", "😀", "日本語", "\u{202E}", long, long + "x", long.uppercased(),
      String(repeating: "i", count: 64 << 10),
    ]
    let mode = app.launch()
    mode.state = .recording
    for (index, identifier) in identifiers.enumerated() { _ = mode.process("\(index)", identifier) }
    await mode.flush()
    let next = app.launch()
    next.state = .replaying
    for (index, identifier) in identifiers.enumerated() {
      #expect(next.process("live", identifier) == "\(index)")
    }
    let packed = try await next.makeSnapshot(to: app.temporary.file("a.zip"))
    #expect(Set(packed.manifest.recordings.map(\.identifier)) == Set(identifiers))
    #expect(app.events.all.isEmpty)
    #expect(try Folder.entries(app.temporary.path) == ["a.zip", "storage"])
  }

  @Test func `an identifier above the limit is rejected and reported, and live data is used`() async {
    let mode = app.launch()
    mode.state = .recording
    let most = Manifest.Limits.default.identifierLength
    for count in [most - 1, most, most + 1] {
      #expect(mode.process("live", String(repeating: "i", count: count)) == "live")
    }
    #expect(app.events.kinds == [.recordingRefused])
    #expect(await mode.report().recordingCount == 2)
  }

  @Test func `the data that waits for the disk is limited`() async throws {
    var app = app
    app.configuration.waitingBytes = 10
    let mode = app.launch()
    mode.state = .recording
    for (identifier, count) in [("below", 9), ("at", 10), ("above", 11)] {
      _ = mode.process(data: Data(count: count), uniqueIdentifier: identifier)
      await mode.flush()
    }
    #expect(app.events.all.map(\.identifier) == ["above"])
    #expect(app.events.kinds == [.recordingRefused])
    // Data that was written no longer counts.
    for round in 0..<20 {
      _ = mode.process(data: Data(count: 10), uniqueIdentifier: "\(round)")
      await mode.flush()
    }
    #expect(await mode.report().recordingCount == 22)
  }

  @Test func `a newer value replaces one that waits for the disk, and counts instead of it`() async throws {
    var app = app
    let gate = Gate()
    app.configuration.waitingBytes = 10
    app.configuration.redaction = [gate.rule]
    let mode = app.launch()
    mode.state = .recording
    _ = mode.process("1", "slow")
    await gate.isReached()
    for _ in 0..<5 { _ = mode.process("12345678", "a") }
    _ = mode.process("123456789", "a")
    _ = mode.process("1", "b")
    gate.open()
    await mode.flush()
    #expect(app.events.all.map(\.identifier) == ["b"])
    #expect(app.events.kinds == [.recordingRefused])
    mode.state = .replaying
    #expect(["slow", "a", "b"].map { mode.process("live", $0) } == ["1", "123456789", "live"])
  }

  @Test func `many threads record under one identifier, and one of their recordings is replayed completely`()
    async
  {
    let mode = app.launch()
    mode.state = .recording
    await withTaskGroup(of: Void.self) { group in
      for writer in 1...8 {
        group.addTask {
          for _ in 0..<50 {
            _ = mode.process(data: Data(repeating: UInt8(writer), count: 20_000), uniqueIdentifier: "a")
          }
        }
      }
    }
    await mode.flush()
    let next = app.launch()
    next.state = .replaying
    let replayed = next.process(data: Data(), uniqueIdentifier: "a")
    #expect(replayed.count == 20_000)
    #expect(Set(replayed).count == 1)
    #expect(app.events.all.isEmpty)
  }

  @Test func `many threads record under many identifiers, and nothing is lost`() async {
    let mode = app.launch()
    mode.state = .recording
    await withTaskGroup(of: Void.self) { group in
      for writer in 0..<8 {
        group.addTask { for round in 0..<25 { _ = mode.process("\(writer)-\(round)", "\(writer)/\(round)") } }
      }
    }
    mode.state = .replaying
    for writer in 0..<8 {
      for round in 0..<25 { #expect(mode.process("live", "\(writer)/\(round)") == "\(writer)-\(round)") }
    }
    #expect(await mode.report().recordingCount == 200)
  }

  @Test func `a file in place of the recordings' folder is reported, and live data is used`() async throws {
    try app.temporary.write(Data(), to: "storage/recordings")
    let mode = app.launch()
    mode.state = .recording
    #expect(mode.process("live", "a") == "live")
    await mode.flush()
    #expect(app.events.kinds == [.recordingFailed])
    #expect(app.events.all.first?.identifier == "a")
    mode.state = .replaying
    #expect(mode.process("live", "a") == "live")
    #expect(app.events.kinds.last == .replayFailed)
  }

  @Test func `a file in place of the storage is reported, and live data is used`() async throws {
    try app.temporary.write(Data("mine".utf8), to: "storage")
    let mode = app.launch()
    mode.state = .recording
    #expect(mode.process("live", "a") == "live")
    await mode.flush()
    #expect(app.events.kinds.contains(.recordingFailed) && app.events.kinds.contains(.stateNotSaved))
    #expect(try Data(contentsOf: app.storage) == Data("mine".utf8))
  }

  @Test func `a folder in place of a recording is reported, and live data is used`() async throws {
    try app.temporary.write(Data(), to: "storage/recordings/a/file")
    let mode = app.launch()
    mode.state = .recording
    _ = mode.process("live", "a")
    _ = mode.process("fine", "b")
    await mode.flush()
    #expect(app.events.kinds == [.recordingFailed])
    mode.state = .replaying
    #expect(mode.process("live", "a") == "live")
    #expect(mode.process("live", "b") == "fine")
    #expect(try !Folder.exists(app.storage.path + "/recording.staged"))
  }

  @Test func `a storage that disappears is created again`() async throws {
    let mode = app.launch()
    mode.state = .recording
    _ = mode.process("1", "a")
    await mode.flush()
    try Folder.removeTree(app.storage.path)
    _ = mode.process("2", "b")
    _ = mode.process("3", String(repeating: "long", count: 100))
    await mode.flush()
    mode.state = .replaying
    await mode.flush()
    #expect(app.events.all.isEmpty)
    #expect(mode.process("live", "a") == "live")
    #expect(mode.process("live", "b") == "2")
    #expect(app.launch().state == .replaying)
  }

  @Test func `clearing removes recordings, pending or written`() async throws {
    let mode = app.launch()
    mode.state = .recording
    _ = mode.process("1", "a")
    await mode.flush()
    _ = mode.process("2", "b")
    try await mode.clear()
    #expect(await mode.report().recordingCount == 0)
    _ = mode.process("3", "c")
    mode.state = .replaying
    #expect(["a", "b", "c"].map { mode.process("live", $0) } == ["live", "live", "3"])
  }

  @Test func `after clearing, everything is recorded as at the beginning`() async throws {
    var app = app
    app.configuration.redaction = [.cardNumbers]
    app.configuration.policies["history"] = .init(retention: .history(limit: 5))
    let mode = app.launch()
    mode.state = .recording
    var names: [String] = []
    for round in 1...2 {
      for call in 1...2 { _ = mode.process("\(round).\(call)", "history") }
      _ = mode.process("\(round)", "latest")
      await mode.flush()
      guard round == 1 else { break }
      names = try app.names(in: "recordings")
      try await mode.clear()
      #expect(try app.names(in: "recordings") == [])
    }
    #expect(try app.names(in: "recordings") == names)
    for isNext in [false, true] {
      let next = isNext ? app.launch() : mode
      next.state = .replaying
      next.rewind()
      #expect(next.process("live", "latest") == "2")
      #expect((1...3).map { _ in next.process("live", "history") } == ["2.1", "2.2", "2.2"])
      #expect(await next.report().redactions == ["card-numbers"])
    }
  }

  @Test func `what is recorded before clearing begins is removed, and what is recorded then is kept`()
    async throws
  {
    var app = app
    let (writing, removing) = (Gate(), Gate())
    app.configuration.waitingBytes = 20
    app.configuration.redaction = [writing.rule]
    let observer = FileObserver(app.storage.path) { operation in
      if case .remove(let path) = operation, path.hasSuffix("/recordings/slow") { removing.pass() }
    }
    defer { observer.stop() }

    let mode = app.launch()
    mode.state = .recording
    _ = mode.process("1", "slow")
    await writing.isReached()
    writing.open()
    await mode.flush()
    for identifier in ["a", "b"] { _ = mode.process("before", identifier) }
    let clearing = Task.immediate { try await mode.clear() }
    await removing.isReached()
    for identifier in ["b", "a"] { _ = mode.process("after \(identifier)", identifier) }
    removing.open()
    try await clearing.value
    await mode.flush()
    #expect(app.events.all.isEmpty)
    mode.state = .replaying
    #expect(["slow", "a", "b"].map { mode.process("live", $0) } == ["live", "after a", "after b"])
  }

  @Test func `only the leftovers of an interrupted launch are removed`() async throws {
    let mode = app.launch()
    mode.state = .recording
    _ = mode.process("mine", "a")
    try await mode.activate(bundle: try app.bundle("one", ["a": "theirs"]))
    let kept = try app.names(in: "snapshots")
    let leftovers = [
      "recording.staged", "mode.json.1-1.staged", "identifiers/x~.1-1.staged", "frozen/x/a",
      "snapshots/.snapshot-1.partial/recordings/a",
      "snapshots/\(SnapshotID())/manifest.json",
    ]
    for name in leftovers { try app.temporary.write(Data("x".utf8), to: "storage/" + name) }
    let next = app.launch()
    await next.flush()
    #expect(try await next.makeSnapshot(to: app.temporary.file("a.zip")).manifest.recordings.count == 1)
    #expect(next.process("live", "a") == "theirs")
    #expect(try app.names(in: "snapshots") == kept)
    #expect(try app.names(in: "frozen") == [])
    #expect(try app.names(in: "identifiers") == [])
    #expect(
      try app.names(in: "") == [
        "frozen", "identifiers", "journal", "lock", "mode.json", "previous", "recordings", "snapshots",
      ])
    #expect(app.events.all.isEmpty)
  }

  @Test func `a snapshot activated after the launch is not removed as a leftover`() async throws {
    let bundle = try app.bundle("one", ["a": "theirs"])
    let mode = app.launch()
    _ = try await mode.makeSnapshot(to: app.temporary.file("a.zip"))
    // The next launch needs so long to remove this that the activation comes before it has read further.
    for number in 0..<3000 { try app.temporary.write(Data(), to: "storage/frozen/x/\(number)") }
    let other = app.launch()
    try await other.activate(bundle: bundle)
    _ = try await other.makeSnapshot(to: app.temporary.file("b.zip"))
    #expect(try app.names(in: "frozen") == [])
    #expect(other.process("live", "a") == "theirs")
    #expect(app.events.all.isEmpty)
  }

  @Test func `after a kill at any moment each recording is complete or absent`() async throws {
    for round in 0..<3 {
      let folder = app.storage.path
      await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder as String, round = round as Int] in
        let mode = SnapshotMode(folder: URL(filePath: folder))
        mode.state = .recording
        for value in 0..<400 {
          let data = Data(repeating: UInt8(truncatingIfNeeded: value), count: 50_000 + round)
          _ = mode.process(data: data, uniqueIdentifier: "recording \(value % 20)")
          if value % 40 == 39 { await mode.flush() }
          if value == 330 + round * 7 { kill(getpid(), SIGKILL) }
        }
      }
      let mode = app.launch()
      #expect(mode.state == .recording)
      mode.state = .replaying
      for value in 0..<20 {
        let data = mode.process(data: Data(count: 50_000), uniqueIdentifier: "recording \(value)")
        #expect(data.count >= 50_000 && Set(data).count == 1)
      }
      #expect(await mode.report().recordingCount == 20)
      // The next process finds the folder free.
      await mode.close()
    }
    #expect(app.events.all.isEmpty)
  }
}

/// Stops a thread of the app until a test lets it continue.
private final class Gate: Sendable {
  private let (reached, reach) = AsyncStream.makeStream(of: Void.self)
  private let mayPass = DispatchSemaphore(value: 0)

  /// A rule that stops before `slow` is written, and redacts nothing.
  var rule: RedactionRule {
    .custom(named: "gate") { [self] data, identifier in
      if identifier == "slow" { pass() }
      return data
    }
  }

  func pass() {
    reach.yield()
    mayPass.wait()
  }

  func isReached() async { for await _ in reached { return } }

  func open() { mayPass.signal() }
}
